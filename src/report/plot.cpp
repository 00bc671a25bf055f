#include "report/plot.h"

#include <algorithm>
#include <cmath>

#include "report/markup.h"

namespace locus::report {
namespace {

constexpr double kFont = 11.5;

bool drawable(double v, AxisKind kind) { return std::isfinite(v) && (kind != AxisKind::kLog || v > 0); }

// Moves label positions apart by at least `gap`, keeping their order and staying within [lo, hi] where they fit.
void spread(std::vector<std::pair<double, std::size_t>>& at, double gap, double lo, double hi) {
  std::stable_sort(at.begin(), at.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (std::size_t i = 0; i < at.size(); ++i) {
    const double least = i == 0 ? lo : at[i - 1].first + gap;
    at[i].first = std::max(at[i].first, least);
  }
  double most = hi;
  for (std::size_t i = at.size(); i-- > 0;) {
    at[i].first = std::min(at[i].first, most);
    most = at[i].first - gap;
  }
}

// A text broken at the space that leaves the shortest longer line.
std::pair<std::string, std::string> two_lines(const std::string& text) {
  std::size_t best = text.find(' ');
  for (std::size_t at = best; at != std::string::npos; at = text.find(' ', at + 1)) {
    if (std::max(at, text.size() - at) < std::max(best, text.size() - best)) best = at;
  }
  return {text.substr(0, best), text.substr(best + 1)};
}

}  // namespace

void XyPlot::line(std::vector<Point> points, const std::string& colour, const std::string& style, Mark mark) {
  items_.push_back({Kind::kLine, std::move(points), {}, colour, style, "", std::move(mark)});
}

void XyPlot::band(const std::vector<Estimate>& points, const std::string& colour, Mark mark) {
  std::vector<Estimate> kept;
  for (const Estimate& e : points) kept.push_back(cut(e));
  items_.push_back({Kind::kBand, {}, std::move(kept), colour, "", "", std::move(mark)});
}

void XyPlot::point(Point at, double radius, const std::string& colour, Mark mark, Shape shape, bool soft) {
  items_.push_back({Kind::kPoint, {at}, {}, colour, "", "", std::move(mark), shape, radius, soft});
}

void XyPlot::estimate(const Estimate& e, const std::string& colour, Mark mark, Shape shape) {
  items_.push_back({Kind::kEstimate, {}, {cut(e)}, colour, "", "", std::move(mark), shape, 4.2});
}

void XyPlot::bar(const Estimate& e, double width, const std::string& colour, Mark mark) {
  items_.push_back({Kind::kBar, {}, {cut(e)}, colour, "", "", std::move(mark), Shape::kSquare, width});
}

void XyPlot::reference(const Estimate& e, const std::string& colour, const std::string& style, Mark mark,
                       std::string label) {
  items_.push_back({Kind::kReference, {}, {cut(e)}, colour, style, std::move(label), std::move(mark)});
}

void XyPlot::label(Point at, std::string text, Mark mark) {
  items_.push_back({Kind::kLabel, {at}, {}, "", "", std::move(text), std::move(mark)});
}

Estimate XyPlot::cut(Estimate e) const {
  if (!spec_.y.possible) return e;
  for (double* end : {&e.lo, &e.hi}) {
    if (std::isfinite(*end)) *end = std::clamp(*end, spec_.y.possible->first, spec_.y.possible->second);
  }
  return e;
}

Range XyPlot::range(bool of_x) const {
  const AxisKind kind = of_x ? spec_.x.kind : spec_.y.kind;
  Range range;
  const auto include = [&](double v) {
    if (drawable(v, kind)) range.include(v);
  };
  for (const Item& item : items_) {
    for (const Point& p : item.points) include(of_x ? p.x : p.y);
    for (const Estimate& e : item.estimates) {
      if (of_x) {
        if (item.kind == Kind::kReference) continue;
        include(item.kind == Kind::kBar ? e.x - item.size / 2 : e.x);
        if (item.kind == Kind::kBar) include(e.x + item.size / 2);
      } else {
        for (const double v : {e.value, e.lo, e.hi}) include(v);
        if (item.kind == Kind::kBar) include(0);
      }
    }
  }
  return range;
}

Scale XyPlot::scale(bool of_x) const {
  const AxisSpec& axis = of_x ? spec_.x : spec_.y;
  if (axis.kind == AxisKind::kCategories) {
    const double last = static_cast<double>(axis.categories.size()) - 1;
    return Scale(AxisKind::kCategories, {-0.5, last + 0.5, false}, 0);
  }
  Range r = range(of_x);
  if (axis.lo) r.include(*axis.lo);
  if (axis.hi) r.include(*axis.hi);
  return Scale(axis.kind, r, of_x ? 0.04 : 0.06);
}

void XyPlot::fit(Scale& x, Scale& y) const {
  x.set_pixels(area_.x, area_.right());
  y.set_pixels(area_.bottom(), area_.y);
  if (!spec_.equal_aspect) return;
  const double unit_x = (x.hi() - x.lo()) / area_.width, unit_y = (y.hi() - y.lo()) / area_.height;
  const double unit = std::max(unit_x, unit_y);
  const double w = (x.hi() - x.lo()) / unit, h = (y.hi() - y.lo()) / unit;
  const double left = area_.x + (area_.width - w) / 2, bottom = area_.bottom() - (area_.height - h) / 2;
  x.set_pixels(left, left + w);
  y.set_pixels(bottom, bottom - h);
}

void XyPlot::draw_x_ticks(Svg& svg, const Scale& x) const {
  std::vector<Tick> ticks;
  if (spec_.x.kind == AxisKind::kCategories) {
    for (std::size_t i = 0; i < spec_.x.categories.size(); ++i)
      ticks.push_back({static_cast<double>(i), spec_.x.categories[i]});
  } else if (!spec_.x.at.empty()) {
    for (const double v : spec_.x.at) ticks.push_back({v, pretty(v, 3)});
  } else {
    ticks = x.ticks(6, spec_.x.unit);
  }
  const double slot = ticks.empty() ? 0 : area_.width / static_cast<double>(ticks.size());
  double free_from = -1e9;
  for (const Tick& t : ticks) {
    const double at = x(t.value);
    if (!std::isfinite(at)) continue;
    svg.line({at, area_.bottom()}, {at, area_.bottom() + 4}, "axis");
    const bool category = spec_.x.kind == AxisKind::kCategories;
    if (category && text_width(t.label, kFont) > slot - 4 && t.label.find(' ') != std::string::npos) {
      const auto [first, second] = two_lines(t.label);
      svg.text({at, area_.bottom() + 16}, fit_text(first, slot - 4, kFont), "tick", Anchor::kMiddle);
      svg.text({at, area_.bottom() + 30}, fit_text(second, slot - 4, kFont), "tick", Anchor::kMiddle);
      continue;
    }
    const std::string text = category ? fit_text(t.label, slot - 4, kFont) : t.label;
    const double half = text_width(text, kFont) / 2;
    if (at - half < free_from) continue;
    svg.text({at, area_.bottom() + 17}, text, "tick", Anchor::kMiddle);
    free_from = at + half + 5;
  }
}

void XyPlot::draw_axes(Svg& svg, const Scale& x, const Scale& y) const {
  if (!spec_.title.empty()) svg.text({area_.x, 15}, fit_text(spec_.title, spec_.width - area_.x, 13), "ttl");
  if (spec_.bare) {
    svg.rect(area_, "frame grid");
    return;
  }
  std::vector<Tick> y_ticks = y.ticks(5, spec_.y.unit);
  for (const Tick& t : y_ticks) {
    const double at = y(t.value);
    svg.line({area_.x, at}, {area_.right(), at}, "grid");
    svg.text({area_.x - 7, at + 4}, t.label, "tick", Anchor::kEnd);
  }
  draw_x_ticks(svg, x);
  svg.line({area_.x, area_.bottom()}, {area_.right(), area_.bottom()}, "axis");
  const double middle = area_.x + area_.width / 2;
  svg.text({middle, spec_.height - 7}, fit_text(spec_.x.label, area_.width + 40, kFont), "", Anchor::kMiddle);
  svg.text_vertical({13, area_.y + area_.height / 2}, fit_text(spec_.y.label, spec_.height - 40, kFont), "");
}

void XyPlot::draw_estimate(Svg& svg, const Item& item, const Scale& x, const Scale& y) const {
  const Estimate& e = item.estimates[0];
  const double px = x(e.x), py = y(e.value), lo = y(e.lo), hi = y(e.hi);
  if (!std::isfinite(px) || !std::isfinite(py)) return;
  if (item.kind == Kind::kBar) {
    const double zero = y(0), left = x(e.x - item.size / 2), right = x(e.x + item.size / 2);
    svg.rect({left, std::min(zero, py), right - left, std::abs(zero - py)}, item.colour + " mark", &item.mark);
  }
  if (std::isfinite(lo) && std::isfinite(hi)) {
    const std::string css = item.kind == Kind::kBar ? "err inkline" : "err s-" + item.colour;
    std::string d = polyline({{px, lo}, {px, hi}});
    for (const double end : {lo, hi}) d += polyline({{px - 3, end}, {px + 3, end}});
    Mark quiet{.title = "", .group = item.mark.group};
    svg.path(d, css, &quiet);
  }
  if (item.kind == Kind::kEstimate) svg.shape(item.shape, {px, py}, item.size, item.colour + " ring mark", &item.mark);
}

void XyPlot::draw_item(Svg& svg, const Item& item, const Scale& x, const Scale& y) const {
  switch (item.kind) {
    case Kind::kLine: {
      std::vector<Point> points;
      for (const Point& p : item.points) points.push_back({x(p.x), y(p.y)});
      svg.path(polyline(points), item.style + " s-" + item.colour, &item.mark);
      break;
    }
    case Kind::kBand: {
      std::vector<Point> outline;
      for (const Estimate& e : item.estimates) {
        if (std::isfinite(y(e.hi)) && std::isfinite(y(e.lo))) outline.push_back({x(e.x), y(e.hi)});
      }
      for (std::size_t i = item.estimates.size(); i-- > 0;) {
        const Estimate& e = item.estimates[i];
        if (std::isfinite(y(e.hi)) && std::isfinite(y(e.lo))) outline.push_back({x(e.x), y(e.lo)});
      }
      if (outline.size() >= 4) svg.path(polyline(outline) + "Z", "band " + item.colour, &item.mark);
      break;
    }
    case Kind::kPoint: {
      const Point at{x(item.points[0].x), y(item.points[0].y)};
      if (!std::isfinite(at.x) || !std::isfinite(at.y)) break;
      svg.shape(item.shape, at, item.size, item.colour + (item.soft ? " mark soft" : " mark ring"), &item.mark);
      break;
    }
    case Kind::kEstimate:
    case Kind::kBar:
      draw_estimate(svg, item, x, y);
      break;
    case Kind::kLabel: {
      const Point at{x(item.points[0].x), y(item.points[0].y)};
      if (std::isfinite(at.x) && std::isfinite(at.y)) svg.text({at.x, at.y - 7}, item.text, "small", Anchor::kMiddle);
      break;
    }
    case Kind::kReference:
      break;
  }
}

void XyPlot::draw_references(Svg& svg, const Scale& y) const {
  std::vector<std::pair<double, std::size_t>> labels;
  for (std::size_t i = 0; i < items_.size(); ++i) {
    const Item& item = items_[i];
    if (item.kind != Kind::kReference) continue;
    const Estimate& e = item.estimates[0];
    const double at = y(e.value), lo = y(e.lo), hi = y(e.hi);
    if (!std::isfinite(at)) continue;
    Mark quiet{.title = "", .group = item.mark.group};
    if (std::isfinite(lo) && std::isfinite(hi)) svg.rect({area_.x, hi, area_.width, lo - hi}, "band " + item.colour, &quiet);
    svg.path(polyline({{area_.x, at}, {area_.right(), at}}), item.style + " s-" + item.colour, &item.mark);
    labels.push_back({at, i});
  }
  spread(labels, 13, area_.y + 2, area_.bottom() - 2);
  for (const auto& [at, i] : labels) {
    const Item& item = items_[i];
    svg.text({area_.right() + 6, at + 4}, fit_text(item.text, spec_.right_margin - 6, 11), "small");
  }
}

Panel XyPlot::finish() {
  Scale y = scale(false), x = scale(true);
  double widest = 12;
  for (const Tick& t : y.ticks(5, spec_.y.unit)) widest = std::max(widest, text_width(t.label, kFont));
  const double left = 22 + widest + 8, top = spec_.title.empty() ? 10 : 28;
  area_ = spec_.bare ? Box{4, top, spec_.width - 8, spec_.height - top - 4}
                     : Box{left, top, spec_.width - left - spec_.right_margin, spec_.height - top - 42};
  fit(x, y);
  Svg svg;
  draw_axes(svg, x, y);
  draw_references(svg, y);
  for (const Item& item : items_) draw_item(svg, item, x, y);
  return {spec_.width, spec_.height, spec_.title.empty() ? spec_.y.label + " against " + spec_.x.label : spec_.title,
          svg.body()};
}

}  // namespace locus::report
