// Serves the page and one trace to a browser of this machine.
#pragma once

#include <cstdint>
#include <string>
#include <tl/expected.hpp>

#include "net/fd.h"
#include "port/http/http_message.h"

namespace turno::cli {

// A file that is served in pieces: a trace may be larger than what one keeps in memory.
class ServedFile {
 public:
  static constexpr std::uint64_t piece_size = std::uint64_t{4} << 20;

  // A regular file, which stays the same file when another takes its name.
  static tl::expected<ServedFile, std::string> open(const std::string& path);

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] std::uint64_t size() const { return size_; }
  [[nodiscard]] std::uint64_t pieces() const { return (size_ + piece_size - 1) / piece_size; }
  // REQUIRES: number < pieces(). Shorter than it should be if the file was cut off meanwhile.
  [[nodiscard]] std::string piece(std::uint64_t number) const;

 private:
  std::string name_;
  net::Fd file_;
  std::uint64_t size_ = 0;
};

// What is under /TOKEN/: the page itself, `trace` (what file there is, JSON) and `trace/0`,
// `trace/1`... (its pieces). There is nothing else, and nothing for those who do not know the
// token.
class PageSite {
 public:
  // No file: the page waits for one to be dropped on it.
  PageSite(std::string token, const ServedFile* file);

  [[nodiscard]] port::HttpResponse answer(const port::HttpRequest& request) const;
  [[nodiscard]] const std::string& token() const { return token_; }

 private:
  [[nodiscard]] port::HttpResponse piece(std::string_view number) const;

  const std::string token_;
  const ServedFile* file_;
  std::string headers_;
};

}  // namespace turno::cli
