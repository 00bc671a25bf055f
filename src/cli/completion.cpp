#include "cli/completion.h"

#include <fmt/core.h>

#include "config/run_config.h"
#include "core/error.h"
#include "core/text.h"

namespace locus::cli {
namespace {

// A key of the configuration and what may stand after it where that is a list.
struct KeyWords {
  std::string key, help;
  std::vector<std::string> values;
};

std::vector<KeyWords> all_keys() {
  RunConfig config;
  std::vector<KeyWords> out;
  const FieldList list = describe(config);
  for (const Field& field : list.fields()) {
    KeyWords key{field.path, field.help, {}};
    if (const auto* choice = std::get_if<Choice>(&field.target)) {
      for (const std::string_view name : choice->names) key.values.emplace_back(name);
    } else if (std::holds_alternative<bool*>(field.target)) {
      key.values = {"true", "false"};
    }
    out.push_back(std::move(key));
  }
  return out;
}

// In single quotes, as bash and zsh read it; fish takes a backslash before a quote.
std::string shell_quoted(std::string_view text, bool fish = false) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'') {
      out += fish ? "\\'" : "'\\''";
    } else {
      out += fish && c == '\\' ? "\\\\" : std::string(1, c);
    }
  }
  return out + "'";
}

std::vector<std::string> words_below(const std::string& path, const std::vector<CommandWords>& commands) {
  std::vector<std::string> out;
  const std::string prefix = path.empty() ? "" : path + " ";
  for (const CommandWords& c : commands) {
    const bool below = c.path.size() > prefix.size() && c.path.starts_with(prefix);
    if (below && c.path.find(' ', prefix.size()) == std::string::npos) out.push_back(c.path.substr(prefix.size()));
  }
  return out;
}

const CommandWords& command_of(const std::string& path, const std::vector<CommandWords>& commands) {
  for (const CommandWords& c : commands) {
    if (c.path == path) return c;
  }
  check_failed("known command", __FILE__, __LINE__, path);
}

std::vector<std::string> option_names(const CommandWords& command, bool with_value_only) {
  std::vector<std::string> out;
  for (const OptionWords& o : command.options) {
    if (o.takes_value || !with_value_only) out.insert(out.end(), o.names.begin(), o.names.end());
  }
  return out;
}

// "  name) variable='a b c' ;;" lines of a shell's case, one a command.
template <class Words>
std::string case_lines(const std::vector<CommandWords>& commands, const Words& words) {
  std::string out;
  for (const CommandWords& c : commands) {
    const std::string list = join(words(c), " ");
    if (!list.empty()) out += fmt::format("    {}) echo {} ;;\n", shell_quoted(c.path), shell_quoted(list));
  }
  return out;
}

// Functions that bash and zsh share: what may follow a command, its options, its keys and their values.
std::string lists(const std::vector<CommandWords>& commands) {
  std::string out = "_locus_words() {\n  case $1 in\n";
  out += case_lines(commands, [&](const CommandWords& c) { return words_below(c.path, commands); });
  out += "  esac\n}\n_locus_options() {\n  case $1 in\n";
  out += case_lines(commands, [](const CommandWords& c) { return option_names(c, false); });
  out += "  esac\n}\n_locus_valued() {\n  case $1 in\n";
  out += case_lines(commands, [](const CommandWords& c) { return option_names(c, true); });
  out += "  esac\n}\n_locus_takes_settings() {\n  case $1 in\n";
  for (const CommandWords& c : commands) {
    if (c.takes_settings) out += fmt::format("    {}) return 0 ;;\n", shell_quoted(c.path));
  }
  out += "  esac\n  return 1\n}\n_locus_keys() {\n  echo ";
  std::vector<std::string> keys;
  for (const KeyWords& k : all_keys()) keys.push_back(k.key + "=");
  out += shell_quoted(join(keys, " ")) + "\n}\n_locus_values() {\n  case $1 in\n";
  for (const KeyWords& k : all_keys()) {
    if (!k.values.empty()) out += fmt::format("    {}) echo {} ;;\n", k.key, shell_quoted(join(k.values, " ")));
  }
  return out + "  esac\n}\n";
}

constexpr const char* kBash = R"sh(_locus() {
  # Of the line itself: bash takes words apart at "=".
  local line=${COMP_LINE:0:COMP_POINT} path='' previous='' word choices=() words=()
  read -ra words <<<"$line"
  local current=''
  [[ $line == *[[:space:]] ]] || { current=${words[-1]}; unset 'words[-1]'; }
  for word in "${words[@]:1}"; do
    [[ " $(_locus_words "$path") " == *" $word "* ]] && path=${path:+$path }$word
    previous=$word
  done
  COMPREPLY=()
  if [[ -n $previous && " $(_locus_valued "$path") " == *" $previous "* ]]; then
    :
  elif [[ $current == -* ]]; then
    read -ra choices <<<"$(_locus_options "$path")"
  elif [[ -n $(_locus_words "$path") ]]; then
    read -ra choices <<<"$(_locus_words "$path")"
  elif _locus_takes_settings "$path"; then
    if [[ $current == *=* ]]; then
      read -ra choices <<<"$(_locus_values "${current%%=*}")"
      current=${current#*=}
    else
      read -ra choices <<<"$(_locus_keys)"
    fi
  fi
  for word in "${choices[@]}"; do
    [[ $word == "$current"* ]] && COMPREPLY+=("$word")
  done
  [[ ${#COMPREPLY[@]} -gt 0 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace 2>/dev/null
  return 0
}
complete -o default -o bashdefault -F _locus locus
)sh";

constexpr const char* kZsh = R"sh(_locus() {
  local command_path='' previous='' word current=${words[CURRENT]}
  local -a choices
  for word in "${(@)words[2,CURRENT-1]}"; do
    [[ " $(_locus_words "$command_path") " == *" $word "* ]] && command_path=${command_path:+$command_path }$word
    previous=$word
  done
  if [[ -n $previous && " $(_locus_valued "$command_path") " == *" $previous "* ]]; then
    _files
  elif [[ $current == -* ]]; then
    choices=(${=$(_locus_options "$command_path")})
    compadd -- $choices
  elif [[ -n $(_locus_words "$command_path") ]]; then
    choices=(${=$(_locus_words "$command_path")})
    compadd -- $choices
  else
    if _locus_takes_settings "$command_path"; then
      if [[ $current == *=* ]]; then
        choices=(${=$(_locus_values "${current%%=*}")})
        compset -P '*='
        compadd -- $choices
        return
      fi
      choices=(${=$(_locus_keys)})
      compadd -S '' -- $choices
    fi
    _files
  fi
}
if [[ $funcstack[1] == _locus ]]; then _locus "$@"; else compdef _locus locus; fi
)sh";

constexpr const char* kFishHead = R"sh(function __locus_path
    set -l path
    for word in (commandline -opc)[2..-1]
        if contains -- "$path $word" $__locus_commands
            set path "$path $word"
        end
    end
    echo $path
end
function __locus_at
    test (__locus_path) = "$argv[1]"
end
)sh";

std::string fish_script(const std::vector<CommandWords>& commands) {
  std::string out = "set -g __locus_commands";
  for (const CommandWords& c : commands) {
    if (!c.path.empty()) out += " " + shell_quoted(" " + c.path, true);
  }
  out += "\n" + std::string(kFishHead) + "function __locus_settings\n";
  out += "    switch (commandline -ct)\n";
  for (const KeyWords& k : all_keys()) {
    if (k.values.empty()) continue;
    out += fmt::format("        case {}\n            printf '%s\\n'", shell_quoted(k.key + "=*", true));
    for (const std::string& v : k.values) out += " " + shell_quoted(k.key + "=" + v, true);
    out += "\n";
  }
  out += "        case '*'\n            printf '%s\\t%s\\n'";
  for (const KeyWords& k : all_keys())
    out += fmt::format(" {} {}", shell_quoted(k.key + "=", true), shell_quoted(k.help, true));
  out += "\n    end\nend\n";
  for (const CommandWords& c : commands) {
    const std::string at = shell_quoted("__locus_at " + shell_quoted(c.path.empty() ? "" : " " + c.path, true), true);
    for (const std::string& word : words_below(c.path, commands)) {
      const CommandWords& sub = command_of(c.path.empty() ? word : c.path + " " + word, commands);
      out += fmt::format("complete -c locus -f -n {} -a {} -d {}\n", at, word, shell_quoted(sub.help, true));
    }
    for (const OptionWords& o : c.options) {
      out += fmt::format("complete -c locus -n {}", at);
      for (const std::string& name : o.names)
        out += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      out += fmt::format("{} -d {}\n", o.takes_value ? " -r" : "", shell_quoted(o.help, true));
    }
    if (c.takes_settings) out += fmt::format("complete -c locus -n {} -a '(__locus_settings)'\n", at);
  }
  return out;
}

}  // namespace

std::string completion_script(const std::string& shell, const std::vector<CommandWords>& commands) {
  const std::string head = "# Made by `locus completion " + shell + "`.\n";
  if (shell == "bash") return head + lists(commands) + kBash;
  if (shell == "zsh") return "#compdef locus\n" + head + lists(commands) + kZsh;
  if (shell == "fish") return head + fish_script(commands);
  throw ConfigError({.what = "no such shell", .where = "locus completion", .got = shell, .expected = "bash, zsh or fish"});
}

}  // namespace locus::cli
