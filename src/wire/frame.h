// What travels between peers: a length, and then that many bytes of
//   u8 version, varint epoch, varint lock, u8 kind, body.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "core/assert.h"
#include "wire/buffer.h"
#include "wire/receive_buffer.h"
#include "wire/status.h"

namespace turno::wire {

constexpr std::uint8_t version = 10;
constexpr std::size_t max_frame = std::size_t{1} << 20;  // behind the length

struct Frame {
  std::uint32_t epoch = 0;
  std::uint64_t lock = 0;  // the number of an instance
  std::uint8_t kind = 0;   // of the body; for the reader to interpret
  std::string_view body;

  bool operator==(const Frame&) const = default;
};

// Appends a frame; body(writer) writes what is inside.
// REQUIRES: the frame is no longer than max_frame.
template <class Body>
void write_frame(std::string& out, std::uint32_t epoch, std::uint64_t lock, std::uint8_t kind,
                 Body&& body) {
  Writer writer(out);
  const auto start = writer.size();
  writer.u32(0);  // the length, not known yet
  writer.u8(version);
  writer.varint(epoch);
  writer.varint(lock);
  writer.u8(kind);
  body(writer);
  const auto length = writer.size() - start - 4;
  TURNO_ASSERT(length <= max_frame);
  writer.patch_u32(start, static_cast<std::uint32_t>(length));
}

// The frames of one link, in whatever pieces they arrive. Used like the parsers of resp.h: the
// network writes into prepare(n), then commit(n), then next() until it wants more.
class FrameReader {
 public:
  std::span<char> prepare(std::size_t size) { return buffer_.prepare(size); }
  void commit(std::size_t size) { buffer_.commit(size); }
  void feed(std::string_view bytes) { buffer_.append(bytes); }
  // From the next frame on: how long it may be.
  void limit(std::size_t most) { most_ = most; }

  // A frame that is too long is refused as soon as its length is here. After an error it stays in
  // it: where the next frame begins is not known.
  Status next();
  // After next() was ready; the body is valid until the next prepare() or feed().
  [[nodiscard]] const Frame& frame() const { return frame_; }
  [[nodiscard]] const std::string& error() const { return error_; }

 private:
  Status fail(std::string what);

  std::size_t most_ = max_frame;
  ReceiveBuffer buffer_;
  Frame frame_;
  std::string error_;
};

}  // namespace turno::wire
