#include "cli/ui/page_server.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "cli/ui/page.h"
#include "core/text/json.h"
#include "port/secret.h"

namespace turno::cli {

namespace {

using port::HttpRequest;
using port::HttpResponse;

constexpr std::string_view html_type = "text/html; charset=utf-8";
constexpr std::string_view json_type = "application/json";

}  // namespace

tl::expected<ServedFile, std::string> ServedFile::open(const std::string& path) {
  const auto failed = [&](const char* why) {
    return tl::unexpected("cannot open '" + path + "': " + why);
  };
  ServedFile served;
  // A pipe without a writer would be waited for.
  served.file_.reset(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status {};
  if (!served.file_ || ::fstat(served.file_.get(), &status) != 0)
    return failed(std::strerror(errno));
  if (!S_ISREG(status.st_mode)) return failed("it is no regular file");
  served.name_ = std::filesystem::path(path).filename().string();
  served.size_ = static_cast<std::uint64_t>(status.st_size);
  return served;
}

std::string ServedFile::piece(std::uint64_t number) const {
  const auto begin = number * piece_size;
  std::string bytes(std::min(piece_size, size_ - begin), '\0');
  std::size_t got = 0;
  while (got < bytes.size()) {
    const auto count = ::pread(file_.get(), bytes.data() + got, bytes.size() - got,
                               static_cast<off_t>(begin + got));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    got += static_cast<std::size_t>(count);
  }
  bytes.resize(got);
  return bytes;
}

PageSite::PageSite(std::string token, const ServedFile* file)
    : token_(std::move(token)), file_(file) {
  headers_ = fmt::format(
      "Content-Security-Policy: {}\r\n"
      "Referrer-Policy: no-referrer\r\n"
      "X-Frame-Options: DENY\r\n"
      "Cross-Origin-Opener-Policy: same-origin\r\n"
      "Cross-Origin-Resource-Policy: same-origin\r\n",
      page().policy);
}

HttpResponse PageSite::answer(const HttpRequest& request) const {
  if (request.method != "GET" && request.method != "HEAD")
    return port::failure_response({405, "there is only GET and HEAD"});
  if (request.body) return port::failure_response({413, "a request has no body here"});
  auto nothing = port::failure_response(
      {404, "nothing is here; the address that turno printed has a token in it"});
  std::string_view path = request.path;
  if (!path.starts_with('/')) return nothing;
  path.remove_prefix(1);
  if (!port::same_secret(path.substr(0, path.find('/')), token_)) return nothing;
  path.remove_prefix(token_.size());
  if (path == "/")
    return {.body = std::string(page().html), .type = html_type, .headers = headers_};
  if (path == "/trace") {
    Json about;
    if (file_ != nullptr)
      about.add("name", file_->name()).add("bytes", file_->size()).add("pieces", file_->pieces());
    return {.body = about.text(), .type = json_type, .headers = headers_};
  }
  constexpr std::string_view before_number = "/trace/";
  if (path.starts_with(before_number)) return piece(path.substr(before_number.size()));
  return nothing;
}

HttpResponse PageSite::piece(std::string_view number) const {
  std::uint64_t wanted = 0;
  const auto [end, error] =
      std::from_chars(number.data(), number.data() + number.size(), wanted, 10);
  if (file_ == nullptr || error != std::errc() || end != number.data() + number.size() ||
      wanted >= file_->pieces())
    return port::failure_response({404, "the file has no such piece"});
  return {.body = file_->piece(wanted), .headers = headers_};
}

}  // namespace turno::cli
