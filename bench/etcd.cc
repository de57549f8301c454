#include "etcd.h"

#include <fmt/core.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <charconv>
#include <optional>
#include <stdexcept>
#include <string_view>

#include "net/socket.h"

namespace turno::bench {

namespace {

// Requests and replies of HTTP/1.1 on one connection, one at a time.
class HttpConnection {
 public:
  explicit HttpConnection(const std::string& address) : host_(address) {
    auto socket = net::connect_within(*net::parse_address(address), std::chrono::seconds(1));
    if (!socket) throw std::runtime_error(socket.error());
    socket_ = std::move(*socket);
  }
  [[nodiscard]] int descriptor() const { return socket_.get(); }
  void post(const std::string& path, const std::string& body) const {
    const auto text = fmt::format("POST {} HTTP/1.1\r\nHost: {}\r\nContent-Length: {}\r\n\r\n{}",
                                  path, host_, body.size(), body);
    if (::send(socket_.get(), text.data(), text.size(), MSG_NOSIGNAL) !=
        static_cast<ssize_t>(text.size()))
      throw std::runtime_error("etcd does not read");
  }
  // The body of the reply, if it is all there.
  std::optional<std::string> receive() {
    std::array<char, 4096> bytes{};
    const auto size = ::recv(socket_.get(), bytes.data(), bytes.size(), 0);
    if (size <= 0) throw std::runtime_error("etcd closed the connection");
    text_.append(bytes.data(), static_cast<std::size_t>(size));
    const auto end = text_.find("\r\n\r\n");
    if (end == std::string::npos) return {};
    if (!text_.starts_with("HTTP/1.1 200")) throw std::runtime_error("etcd: " + text_);
    constexpr std::string_view field = "Content-Length: ";
    const auto at = text_.find(field);
    if (at == std::string::npos || at > end) throw std::runtime_error("etcd: " + text_);
    std::size_t length = 0;
    std::from_chars(text_.data() + at + field.size(), text_.data() + end, length);
    if (text_.size() < end + 4 + length) return {};
    return std::exchange(text_, {}).substr(end + 4, length);
  }
  std::string await() {
    for (;;) {
      pollfd ready{.fd = socket_.get(), .events = POLLIN, .revents = 0};
      if (::poll(&ready, 1, 5000) <= 0) throw std::runtime_error("etcd does not answer");
      if (auto body = receive()) return *body;
    }
  }

 private:
  const std::string host_;
  net::Fd socket_;
  std::string text_;
};

// What stands in a flat object of JSON behind "name": between `open` and `close`, both included.
std::string field(const std::string& json, const std::string& name, char open, char close) {
  const auto at = json.find("\"" + name + "\":");
  const auto begin = at == std::string::npos ? at : json.find(open, at + name.size() + 3);
  const auto end = begin == std::string::npos ? begin : json.find(close, begin + 1);
  if (end == std::string::npos) throw std::runtime_error("etcd: no " + name + " in " + json);
  return json.substr(begin, end + 1 - begin);
}

std::string base64(std::string_view text) {
  constexpr std::string_view digits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (std::size_t i = 0; i < text.size(); i += 3) {
    std::uint32_t bits = 0;
    for (std::size_t k = 0; k < 3; ++k)
      bits = bits << 8 | (i + k < text.size() ? static_cast<unsigned char>(text[i + k]) : 0U);
    for (std::size_t k = 0; k < 4; ++k)
      out += i + k > text.size() ? '=' : digits[bits >> (18 - 6 * k) & 63];
  }
  return out;
}

class EtcdTalker final : public Talker {
 public:
  EtcdTalker(const std::string& address, const std::string& election) : connection_(address) {
    connection_.post("/v3/lease/grant", R"({"TTL":60})");
    const auto lease = field(connection_.await(), "ID", '"', '"');
    campaign_ = fmt::format(R"({{"name":"{}","lease":{},"value":"{}"}})", base64(election), lease,
                            base64("10.0.0.7:8080"));
  }
  [[nodiscard]] int descriptor() const override { return connection_.descriptor(); }
  void begin() override { connection_.post("/v3/election/campaign", campaign_); }
  Progress read() override {
    const auto body = connection_.receive();
    if (!body) return {};
    leads_ = !leads_;
    if (leads_) {
      connection_.post("/v3/election/resign",
                       R"({"leader":)" + field(*body, "leader", '{', '}') + "}");
      return {};
    }
    begin();
    return {.finished = 1};
  }

 private:
  HttpConnection connection_;
  std::string campaign_;
  bool leads_ = false;
};

std::string url(int port) { return fmt::format("http://127.0.0.1:{}", port); }

}  // namespace

Etcd::Etcd(const std::filesystem::path& directory)
    : port_(free_port()),
      peer_port_(free_port()),
      program_({"etcd", "--data-dir", directory.string(), "--listen-client-urls", url(port_),
                "--advertise-client-urls", url(port_), "--listen-peer-urls", url(peer_port_),
                "--initial-advertise-peer-urls", url(peer_port_), "--initial-cluster",
                "default=" + url(peer_port_)},
               directory.string() + ".log") {
  await([&] { static_cast<void>(talker("is anybody there")); });
}

std::unique_ptr<Talker> Etcd::talker(const std::string& election) const {
  return std::make_unique<EtcdTalker>(fmt::format("127.0.0.1:{}", port_), election);
}

}  // namespace turno::bench
