#include "field/stable.h"

#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "wire/buffer.h"

namespace turno::field {

namespace {

[[noreturn]] void fail(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

std::string all_of(int file) {
  const auto end = ::lseek(file, 0, SEEK_END);
  if (end < 0) fail("looking at stable storage");
  std::string bytes(static_cast<std::size_t>(end), '\0');
  for (std::size_t got = 0; got < bytes.size();) {
    const auto count =
        ::pread(file, bytes.data() + got, bytes.size() - got, static_cast<off_t>(got));
    if (count <= 0) fail("reading stable storage");
    got += static_cast<std::size_t>(count);
  }
  return bytes;
}

}  // namespace

void keep_stable(int file, std::string_view value) {
  std::string bytes;
  wire::Writer out(bytes);
  out.u32(static_cast<std::uint32_t>(value.size()));
  out.raw(value);
  for (std::string_view rest = bytes; !rest.empty();) {
    const auto count = ::write(file, rest.data(), rest.size());
    if (count < 0) fail("writing stable storage");
    rest.remove_prefix(static_cast<std::size_t>(count));
  }
}

std::string last_stable(int file) {
  const auto bytes = all_of(file);
  std::string_view last;
  std::size_t whole = 0;
  for (;;) {
    const auto rest = std::string_view(bytes).substr(whole);
    wire::Reader in(rest);
    const std::size_t size = in.u32();
    if (!in.ok() || rest.size() < 4 + size) break;
    last = rest.substr(4, size);
    whole += 4 + size;
  }
  if (::ftruncate(file, static_cast<off_t>(whole)) != 0 || ::lseek(file, 0, SEEK_END) < 0)
    fail("cutting stable storage");
  return std::string(last);
}

}  // namespace turno::field
