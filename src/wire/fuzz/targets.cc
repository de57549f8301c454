#include "wire/fuzz/targets.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "core/assert.h"
#include "protocols/list.h"
#include "wire/codec.h"
#include "wire/frame.h"
#include "wire/resp.h"

namespace turno::wire {

using namespace protocols;

namespace {

struct Input {
  std::size_t step;  // bytes that arrive at once
  std::string_view bytes;
};

Input split(std::span<const std::uint8_t> bytes) {
  if (bytes.empty()) return {1, {}};
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return {std::size_t{1} + bytes[0] % 16, text.substr(1)};
}

template <class Item>
struct Outcome {
  std::vector<Item> items;
  std::string error;
  bool operator==(const Outcome&) const = default;
};

// All that a parser finds; copy(parser) takes the item that is ready.
template <class Parser, class Copy>
auto parse(std::string_view bytes, std::size_t step, Copy copy) {
  Parser parser;
  Outcome<decltype(copy(parser))> outcome;
  while (!bytes.empty()) {
    parser.feed(bytes.substr(0, step));
    bytes.remove_prefix(std::min(step, bytes.size()));
    for (;;) {
      const auto status = parser.next();
      if (status == Status::error) outcome.error = parser.error();
      TURNO_ASSERT(outcome.error.empty() || status == Status::error);  // it stays in its error
      if (status != Status::ready) break;
      outcome.items.push_back(copy(parser));
    }
  }
  return outcome;
}

struct CopiedFrame {
  std::uint32_t epoch;
  std::uint64_t lock;
  std::uint8_t kind;
  std::string body;
  bool operator==(const CopiedFrame&) const = default;
};

Outcome<CopiedFrame> parse_frames(std::string_view bytes, std::size_t step) {
  return parse<FrameReader>(bytes, step, [](FrameReader& reader) {
    const auto& frame = reader.frame();
    return CopiedFrame{frame.epoch, frame.lock, frame.kind, std::string(frame.body)};
  });
}

Outcome<std::vector<std::string>> parse_requests(std::string_view bytes, std::size_t step) {
  return parse<RequestParser>(bytes, step, [](RequestParser& parser) {
    const auto arguments = parser.arguments();
    TURNO_ASSERT(!arguments.empty());
    return std::vector<std::string>(arguments.begin(), arguments.end());
  });
}

Outcome<Reply> parse_replies(std::string_view bytes, std::size_t step) {
  return parse<ReplyParser>(bytes, step,
                            [](ReplyParser& parser) { return std::move(parser.reply()); });
}

template <class Message>
void check_message(std::string_view body, const Limits& limits) {
  Reader reader(body);
  Message message;
  if (!decode(reader, message, limits)) return;
  std::string written;
  Writer writer(written);
  encode(writer, message);
  TURNO_ASSERT(written.size() <= body.size() - reader.remaining());  // the shortest way
  Reader again(written);
  Message same;
  TURNO_ASSERT(decode(again, same, limits));
  TURNO_ASSERT(again.remaining() == 0);
  TURNO_ASSERT(message == same);
}

template <class... P>
void check_body(List<P...>, const CopiedFrame& frame, const Limits& limits) {
  std::size_t number = 0;
  ((number++ == frame.kind % sizeof...(P) ? check_message<typename P::Message>(frame.body, limits)
                                          : void()),
   ...);
}

// A reply as a server of version 3 might send it.
void write_reply(std::string& out, const Reply& reply) {
  using Kind = Reply::Kind;
  ReplyWriter writer(out, 3);
  const auto line = [&](char type) { out += type + reply.text + "\r\n"; };
  const auto elements = [&](char type, std::size_t count) {
    out += type + std::to_string(count) + "\r\n";
    for (const auto& element : reply.elements) write_reply(out, element);
  };
  switch (reply.kind) {
    case Kind::null:
      return writer.null();
    case Kind::simple:
      return line('+');
    case Kind::error:
      out += '!' + std::to_string(reply.text.size()) + "\r\n" + reply.text + "\r\n";
      return;
    case Kind::integer:
      return writer.integer(reply.integer);
    case Kind::bulk:
      return writer.bulk(reply.text);
    case Kind::boolean:
      return writer.boolean(reply.integer == 1);
    case Kind::number:
      return line(',');
    case Kind::big_number:
      return line('(');
    case Kind::verbatim:
      out += '=' + std::to_string(reply.text.size() + 4) + "\r\ntxt:" + reply.text + "\r\n";
      return;
    case Kind::array:
      return elements('*', reply.elements.size());
    case Kind::set:
      return elements('~', reply.elements.size());
    case Kind::map:
      return elements('%', reply.elements.size() / 2);
    case Kind::push:
      return elements('>', reply.elements.size());
  }
}

}  // namespace

void fuzz_frames(std::span<const std::uint8_t> bytes) {
  const auto [step, input] = split(bytes);
  const auto outcome = parse_frames(input, input.size());
  TURNO_ASSERT(outcome == parse_frames(input, step));
  std::string written;
  for (const auto& frame : outcome.items) {
    write_frame(written, frame.epoch, frame.lock, frame.kind,
                [&](Writer& writer) { writer.raw(frame.body); });
    check_body(Locks{}, frame, {.nodes = 5, .epoch = frame.epoch});
    check_body(Locks{}, frame, {.nodes = 200, .epoch = 3});
  }
  const auto again = parse_frames(written, step);
  TURNO_ASSERT(again.items == outcome.items && again.error.empty());
}

void fuzz_requests(std::span<const std::uint8_t> bytes) {
  const auto [step, input] = split(bytes);
  const auto outcome = parse_requests(input, input.size());
  TURNO_ASSERT(outcome == parse_requests(input, step));
  std::string written;
  for (const auto& request : outcome.items) {
    const std::vector<std::string_view> arguments(request.begin(), request.end());
    write_request(written, arguments);
  }
  const auto again = parse_requests(written, step);
  TURNO_ASSERT(again.items == outcome.items && again.error.empty());
}

void fuzz_replies(std::span<const std::uint8_t> bytes) {
  const auto [step, input] = split(bytes);
  const auto outcome = parse_replies(input, input.size());
  TURNO_ASSERT(outcome == parse_replies(input, step));
  std::string written;
  for (const auto& reply : outcome.items) write_reply(written, reply);
  const auto again = parse_replies(written, step);
  TURNO_ASSERT(again.items == outcome.items && again.error.empty());
}

}  // namespace turno::wire
