#include "registry/etcd/gateway.h"

#include <curl/curl.h>
#include <fmt/format.h>

#include <array>
#include <boost/json/parse.hpp>
#include <ctime>
#include <mutex>
#include <utility>

#include "core/assert.h"
#include "core/text/printable.h"

namespace turno::registry {

namespace {

constexpr std::size_t longest_answer = std::size_t{8} << 20;
constexpr std::size_t longest_quotation = 200;

// What gRPC calls a wrong moment or a wrong place rather than a wrong request.
bool others_may_do_better(int code) {
  constexpr int cancelled = 1, unknown = 2, deadline_exceeded = 4, internal = 13, unavailable = 14;
  return code == cancelled || code == unknown || code == deadline_exceeded || code == internal ||
         code == unavailable;
}

}  // namespace

std::chrono::nanoseconds boot_clock() {
  timespec now{};
  ::clock_gettime(CLOCK_BOOTTIME, &now);
  return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

// One connection, which is kept, and what it said last.
class Gateway::Curl {
 public:
  explicit Curl(const EtcdAccess& access) {
    static std::once_flag once;
    std::call_once(once, [] { curl_global_init(CURL_GLOBAL_DEFAULT); });
    handle_ = curl_easy_init();
    TURNO_ASSERT(handle_ != nullptr);
    set(CURLOPT_NOSIGNAL, 1L);
    set(CURLOPT_NOPROXY, "*");
    set(CURLOPT_PROTOCOLS_STR, "http,https");
    set(CURLOPT_TIMEOUT_MS, static_cast<long>(access.patience.count()));
    set(CURLOPT_ERRORBUFFER, reason_.data());
    set(CURLOPT_WRITEFUNCTION, &Curl::take);
    set(CURLOPT_WRITEDATA, this);
    if (!access.authority_file.empty()) set(CURLOPT_CAINFO, access.authority_file.c_str());
    if (!access.certificate_file.empty()) set(CURLOPT_SSLCERT, access.certificate_file.c_str());
    if (!access.key_file.empty()) set(CURLOPT_SSLKEY, access.key_file.c_str());
  }
  Curl(const Curl&) = delete;
  Curl& operator=(const Curl&) = delete;
  ~Curl() {
    curl_slist_free_all(headers_);
    curl_easy_cleanup(handle_);
  }

  void set_token(const std::string& token) {
    curl_slist_free_all(std::exchange(headers_, nullptr));
    headers_ = curl_slist_append(headers_, "Content-Type: application/json");
    if (!token.empty()) headers_ = curl_slist_append(headers_, ("Authorization: " + token).c_str());
    set(CURLOPT_HTTPHEADER, headers_);
  }

  // Empty, or why there is no answer.
  std::string post(const std::string& url, const std::string& body) {
    answer_.clear();
    reason_.fill('\0');
    set(CURLOPT_URL, url.c_str());
    set(CURLOPT_POSTFIELDSIZE, static_cast<long>(body.size()));
    set(CURLOPT_POSTFIELDS, body.c_str());
    const auto result = curl_easy_perform(handle_);
    if (result == CURLE_OK) return {};
    return reason_[0] != '\0' ? reason_.data() : curl_easy_strerror(result);
  }
  [[nodiscard]] const std::string& answer() const { return answer_; }
  [[nodiscard]] long status() const {
    long status = 0;
    curl_easy_getinfo(handle_, CURLINFO_RESPONSE_CODE, &status);
    return status;
  }

 private:
  template <class T>
  void set(CURLoption option, T value) {
    TURNO_ASSERT(curl_easy_setopt(handle_, option, value) == CURLE_OK);
  }
  static std::size_t take(const char* bytes, std::size_t size, std::size_t count, void* self) {
    auto& answer = static_cast<Curl*>(self)->answer_;
    if (answer.size() + size * count > longest_answer) return 0;
    answer.append(bytes, size * count);
    return size * count;
  }

  CURL* handle_ = nullptr;
  curl_slist* headers_ = nullptr;
  std::array<char, CURL_ERROR_SIZE> reason_{};
  std::string answer_;
};

Gateway::Gateway(EtcdAccess access) : access_(std::move(access)) {
  TURNO_ASSERT(!access_.endpoints.empty());
  curl_ = std::make_unique<Curl>(access_);
  curl_->set_token({});
}

Gateway::~Gateway() = default;

tl::expected<Gateway::Answer, Gateway::Trouble> Gateway::post(std::string_view path,
                                                              const Json& body) {
  Trouble trouble;
  for (std::size_t asked = 0; asked < access_.endpoints.size(); ++asked) {
    auto answer = post_here(path, body);
    if (answer || answer.error().answered) return answer;
    trouble.message += (asked == 0 ? "" : "; ") + answer.error().message;
    endpoint_ = (endpoint_ + 1) % access_.endpoints.size();
  }
  return tl::unexpected(std::move(trouble));
}

// Tokens end, and do not outlive a restart of etcd.
tl::expected<Gateway::Answer, Gateway::Trouble> Gateway::post_here(std::string_view path,
                                                                   const Json& body) {
  if (!access_.user.empty() && token_.empty())
    if (auto known = authenticate(); !known) return tl::unexpected(known.error());
  auto answer = send(path, body);
  if (answer || access_.user.empty() || answer.error().code != unauthenticated) return answer;
  if (auto known = authenticate(); !known) return tl::unexpected(known.error());
  return send(path, body);
}

tl::expected<void, Gateway::Trouble> Gateway::authenticate() {
  token_.clear();
  curl_->set_token({});
  const auto answer =
      send("auth/authenticate", Json().add("name", access_.user).add("password", access_.password));
  if (!answer) return tl::unexpected(answer.error());
  const auto* token = answer->body.if_contains("token");
  if (token == nullptr || !token->is_string())
    return tl::unexpected(Trouble{true, 0, "etcd gave no token to '" + access_.user + "'"});
  token_ = token->as_string().c_str();
  curl_->set_token(token_);
  return {};
}

tl::expected<Gateway::Answer, Gateway::Trouble> Gateway::send(std::string_view path,
                                                              const Json& body) {
  const auto& endpoint = access_.endpoints[endpoint_];
  Answer answer{.body = {}, .sent = boot_clock()};
  const auto fail = [&](bool answered, int code, std::string_view why) {
    return tl::unexpected(Trouble{answered, code, fmt::format("{}: {}", endpoint, why)});
  };
  if (const auto reason = curl_->post(fmt::format("{}/v3/{}", endpoint, path), body.text());
      !reason.empty())
    return fail(false, 0, reason);
  boost::system::error_code wrong;
  auto parsed = boost::json::parse(curl_->answer(), wrong);
  if (wrong || !parsed.is_object())
    return fail(false, 0,
                fmt::format("this is no answer of etcd's: {} {}", curl_->status(),
                            printable(curl_->answer().substr(0, longest_quotation))));
  answer.body = std::move(parsed.as_object());
  const auto* error = answer.body.if_contains("error");
  if (error == nullptr && curl_->status() == 200) return answer;
  const auto* code = answer.body.if_contains("code");
  const auto number = code != nullptr && code->is_int64() ? static_cast<int>(code->as_int64()) : 2;
  const auto said = error != nullptr && error->is_string()
                        ? std::string_view(error->as_string())
                        : std::string_view("it refuses, and does not say why");
  return fail(!others_may_do_better(number), number, printable(said.substr(0, longest_quotation)));
}

}  // namespace turno::registry
