// RESP, the protocol of Redis, versions 2 and 3: requests for a server, replies for a client.
//
// Both parsers are incremental: let the network write into prepare(n), tell commit(n) how much
// came, then call next() until it wants more. After an error a parser stays in it; close the
// connection.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "wire/receive_buffer.h"
#include "wire/status.h"

namespace turno::wire {

// The requests of one client: arrays of bulk strings, or lines of words for people with telnet.
// Copies no argument, and allocates nothing once its buffer has grown to what the client sends.
class RequestParser {
 public:
  static constexpr std::size_t max_arguments = 64;
  static constexpr std::size_t max_argument = std::size_t{64} << 10;
  static constexpr std::size_t max_request = std::size_t{256} << 10;
  static constexpr std::size_t max_line = std::size_t{64} << 10;

  std::span<char> prepare(std::size_t size) { return buffer_.prepare(size); }
  void commit(std::size_t size) { buffer_.commit(size); }
  void feed(std::string_view bytes) { buffer_.append(bytes); }

  Status next();
  // After next() was ready: the command and its arguments, never empty; valid until the next call
  // of next(), prepare() or feed().
  [[nodiscard]] std::span<const std::string_view> arguments() const {
    return {arguments_.data(), count_};
  }
  // "Protocol error: ...", ready for ReplyWriter::error("ERR", ...).
  [[nodiscard]] const std::string& error() const { return error_; }
  // Bytes of requests that next() has not given yet.
  [[nodiscard]] std::size_t pending() const { return buffer_.readable().size(); }

 private:
  struct Place {
    std::uint32_t offset, size;
  };

  Status next_array(std::string_view text);
  Status next_line(std::string_view text);
  Status finish(std::string_view text);
  void skip(std::size_t size);
  Status fail(std::string_view what);
  Status fail_without_dollar(char found);

  ReceiveBuffer buffer_;
  std::array<std::string_view, max_arguments> arguments_;
  std::size_t count_ = 0;

  // Of a request that is not complete; offsets are from its first byte, as the buffer may move.
  std::array<Place, max_arguments> places_;
  std::size_t expected_ = 0;  // arguments; 0: the array's header is still to be read
  std::size_t found_ = 0;     // arguments, the last perhaps without its text
  std::size_t at_ = 0;        // where to go on
  bool inside_ = false;       // the last argument's length is known
  std::string error_;
};

// Appends replies to a string that must outlive it.
class ReplyWriter {
 public:
  explicit ReplyWriter(std::string& out, int protocol = 2) : out_(out), protocol_(protocol) {}

  [[nodiscard]] int protocol() const { return protocol_; }
  void set_protocol(int protocol) { protocol_ = protocol; }

  void simple(std::string_view text);
  // The code is one word in capitals, such as ERR. Line ends become spaces.
  void error(std::string_view code, std::string_view text);
  void integer(std::int64_t value);
  void bulk(std::string_view text);
  void null();
  void boolean(bool value);  // an integer in version 2
  // An integer, or its digits for clients that keep integers as doubles of 53 bits.
  void fence(std::uint64_t value);
  void set_fences_as_text(bool text) { fences_as_text_ = text; }
  // The elements follow.
  void array(std::size_t elements);
  void map(std::size_t pairs);      // a flat array in version 2
  void push(std::size_t elements);  // an array in version 2

 private:
  void header(char type, std::int64_t value);
  void line(std::string_view text);

  std::string& out_;
  int protocol_;
  bool fences_as_text_ = false;
};

// A request as clients send it.
void write_request(std::string& out, std::span<const std::string_view> arguments);
inline void write_request(std::string& out, std::initializer_list<std::string_view> arguments) {
  write_request(out, std::span{arguments.begin(), arguments.size()});
}

struct Reply {
  enum class Kind : std::uint8_t {
    null,
    simple,
    error,
    integer,
    bulk,
    boolean,
    number,      // a double; its text
    big_number,  // its text
    verbatim,    // its text without the format
    array,
    set,
    map,  // key, value, key, value, ...
    push
  };
  Kind kind = Kind::null;
  std::int64_t integer = 0;  // or the boolean
  std::string text;
  std::vector<Reply> elements;

  [[nodiscard]] bool is_null() const { return kind == Kind::null; }
  [[nodiscard]] bool is_error() const { return kind == Kind::error; }
  bool operator==(const Reply&) const = default;
};

// The replies of one server, and what it pushes. Attributes are read and forgotten.
class ReplyParser {
 public:
  static constexpr std::size_t max_depth = 8;
  static constexpr std::size_t max_elements = 1'000'000;  // of one reply, at all depths together
  static constexpr std::size_t max_bulk = std::size_t{16} << 20;
  static constexpr std::size_t max_line = std::size_t{64} << 10;

  std::span<char> prepare(std::size_t size) { return buffer_.prepare(size); }
  void commit(std::size_t size) { buffer_.commit(size); }
  void feed(std::string_view bytes) { buffer_.append(bytes); }

  Status next();
  // After next() was ready. May be moved from.
  [[nodiscard]] Reply& reply() { return reply_; }
  [[nodiscard]] const std::string& error() const { return error_; }

 private:
  struct Open {
    Reply reply;
    std::size_t left;  // elements still to come
    bool forget;       // an attribute
  };
  enum class Step : std::uint8_t { whole, opened, more, error };

  Step read_line();
  Step read_text();
  Step read_value(char type, std::string_view line, Reply& value);
  Step open(char type, std::string_view line);
  Step fail(std::string_view what);
  bool add(Reply&& value);

  ReceiveBuffer buffer_;
  std::vector<Open> open_;
  std::size_t elements_ = 0;  // of the reply being read
  std::size_t scanned_ = 0;   // bytes without a line's end
  bool in_text_ = false;      // the next bytes are a bulk's text
  Reply::Kind text_kind_ = Reply::Kind::bulk;
  std::size_t text_size_ = 0;
  Reply reply_, value_;
  std::string error_;
};

}  // namespace turno::wire
