// Bytes out, bytes in. Numbers are little endian or varints: seven bits a byte, lowest first, the
// high bit set on all but the last.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace turno::wire {

// Appends to a string that must outlive it.
class Writer {
 public:
  explicit Writer(std::string& out) : out_(out) {}

  void u8(std::uint8_t value) { out_.push_back(static_cast<char>(value)); }
  void u32(std::uint32_t value) {
    char bytes[4];
    put_u32(bytes, value);
    out_.append(bytes, sizeof bytes);
  }
  void varint(std::uint64_t value) {
    if (value < 0x80) return u8(static_cast<std::uint8_t>(value));
    char bytes[10];
    std::size_t size = 0;
    for (; value >= 0x80; value >>= 7) bytes[size++] = static_cast<char>(value | 0x80);
    bytes[size++] = static_cast<char>(value);
    out_.append(bytes, size);
  }
  void raw(std::string_view bytes) { out_.append(bytes); }
  // The length as a varint, then the bytes.
  void bytes(std::string_view bytes) {
    varint(bytes.size());
    raw(bytes);
  }

  [[nodiscard]] std::size_t size() const { return out_.size(); }
  // Overwrites four bytes that were written before. REQUIRES: at + 4 <= size().
  void patch_u32(std::size_t at, std::uint32_t value) { put_u32(out_.data() + at, value); }

 private:
  static void put_u32(char* bytes, std::uint32_t value) {
    for (int i = 0; i < 4; ++i) bytes[i] = static_cast<char>(value >> (8 * i));
  }

  std::string& out_;
};

// Reads bytes that must outlive it. A read that fails, for want of bytes or otherwise, gives zero
// or nothing, and so does every read after it: check ok() once at the end.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : at_(bytes.data()), end_(at_ + bytes.size()) {}

  std::uint8_t u8() {
    if (at_ == end_) return fail();
    return static_cast<std::uint8_t>(*at_++);
  }
  std::uint32_t u32() {
    if (remaining() < 4) return fail();
    std::uint32_t value = 0;
    for (int i = 0; i < 4; ++i) value |= std::uint32_t{static_cast<std::uint8_t>(*at_++)} << 8 * i;
    return value;
  }
  // At most ten bytes and 64 bits; it need not be the shortest way to write the number.
  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 70; shift += 7) {
      const auto byte = std::uint64_t{u8()};
      if (shift == 63 && byte > 1) return fail();
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    return fail();
  }
  std::string_view raw(std::uint64_t size) {
    if (size > remaining()) {
      fail();
      return {};
    }
    const std::string_view found(at_, static_cast<std::size_t>(size));
    at_ += size;
    return found;
  }
  std::string_view bytes() { return raw(varint()); }
  std::string_view rest() { return raw(remaining()); }

  [[nodiscard]] bool ok() const { return ok_; }
  [[nodiscard]] std::size_t remaining() const { return static_cast<std::size_t>(end_ - at_); }
  // For callers that find what was read unacceptable.
  std::uint8_t fail() {
    ok_ = false;
    at_ = end_;  // no later read can succeed
    return 0;
  }

 private:
  const char* at_;
  const char* end_;
  bool ok_ = true;
};

}  // namespace turno::wire
