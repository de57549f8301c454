#include "wire/frame.h"

#include <limits>
#include <utility>

namespace turno::wire {

Status FrameReader::next() {
  frame_ = {};
  if (!error_.empty()) return Status::error;
  const auto bytes = buffer_.readable();
  if (bytes.size() < 4) return Status::more;
  const auto length = std::size_t{Reader(bytes).u32()};
  if (length == 0) return fail("an empty frame");
  if (length > most_)
    return fail("a frame of " + std::to_string(length) + " bytes; the most is " +
                std::to_string(most_));
  if (bytes.size() < 5) return Status::more;
  // Another version may have another header: judge it before anything else.
  const auto theirs = static_cast<std::uint8_t>(bytes[4]);
  if (theirs != version)
    return fail("a frame of version " + std::to_string(theirs) + "; this is version " +
                std::to_string(version));
  if (bytes.size() < 4 + length) return Status::more;

  Reader reader(bytes.substr(5, length - 1));
  const auto epoch = reader.varint();
  const auto lock = reader.varint();
  const auto kind = reader.u8();
  if (!reader.ok() || epoch > std::numeric_limits<std::uint32_t>::max())
    return fail("a frame with a malformed header");
  frame_ = {static_cast<std::uint32_t>(epoch), lock, kind, reader.rest()};
  buffer_.consume(4 + length);
  return Status::ready;
}

Status FrameReader::fail(std::string what) {
  error_ = std::move(what);
  return Status::error;
}

}  // namespace turno::wire
