// Records with checksums and the wire format of protocol buffers, against known answers and foreign readers.
#include "io/records.h"

#include "io/protobuf.h"
#include "tests/io/support.h"

namespace locus {
namespace {

using io_test::error_text;

TEST(RecordsTest, checksums_are_those_of_the_standard) {
  EXPECT_EQ(crc32c_of(bytes_of("123456789")), 0xE3069283u);            // the check value of CRC-32C
  EXPECT_EQ(crc32c_of(bytes_of(std::string(32, '\0'))), 0x8A9136AAu);  // RFC 3720, B.4
  EXPECT_EQ(crc32c_of(bytes_of(std::string(32, '\xFF'))), 0x62A8AB43u);
}

TEST(RecordsTest, what_was_written_is_read_and_every_damage_is_seen) {
  const std::string file = record_of("one") + record_of("") + record_of(std::string(300, 'x'));
  ByteReader in(bytes_of(file), "file");
  EXPECT_EQ(as_text(*next_record(in)), "one");
  EXPECT_EQ(as_text(*next_record(in)), "");
  EXPECT_EQ(as_text(*next_record(in)), std::string(300, 'x'));
  EXPECT_FALSE(next_record(in));
  for (std::size_t i = 0; i < file.size(); ++i) {
    std::string bad = file;
    bad[i] = static_cast<char>(bad[i] ^ 1);
    const std::string error = error_text([&] {
      ByteReader damaged(bytes_of(bad), "bad file");
      while (next_record(damaged)) {
      }
    });
    EXPECT_NE(error.find("bad file"), std::string::npos) << "byte " << i;
  }
}

TEST(ProtobufTest, fields_have_the_bytes_of_the_standard) {
  // The examples of the format's own description: field 1 = 150, field 2 = "testing".
  EXPECT_EQ(ProtoMessage().integer(1, 150).bytes(), "\x08\x96\x01");
  EXPECT_EQ(ProtoMessage().text(2, "testing").bytes(), "\x12\x07testing");
  const std::string inner = ProtoMessage().message(3, ProtoMessage().integer(1, 150)).bytes();
  EXPECT_EQ(inner, "\x1a\x03\x08\x96\x01");
  EXPECT_EQ(ProtoMessage().integer(1, -1).bytes().size(), 11u);
}

TEST(ProtobufTest, an_integer_is_found_among_other_fields_and_nonsense_is_an_error) {
  const ProtoMessage m = ProtoMessage().number(1, 2.5).text(3, "abc").number(4, 1.5f).integer(2, -7).integer(9, 1);
  EXPECT_EQ(proto_integer(bytes_of(m.bytes()), 2, "m"), -7);
  EXPECT_EQ(proto_integer(bytes_of(m.bytes()), 5, "m"), std::nullopt);
  for (std::size_t cut = 1; cut < m.bytes().size(); ++cut) {
    const std::string part = m.bytes().substr(0, cut);
    error_text([&] { proto_integer(bytes_of(part), 2, "m"); });  // ends, in an answer or an error
  }
  EXPECT_NE(error_text([&] { proto_integer(bytes_of("\x13"), 2, "m"); }), "");
  EXPECT_NE(error_text([&] { proto_integer(bytes_of("\x12\x7f"), 2, "m"); }), "");
}

}  // namespace
}  // namespace locus
