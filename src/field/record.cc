#include "field/record.h"

#include "field/values.h"

namespace turno::field {

namespace {

enum Flag : std::uint8_t {
  lost = 1,
  granted = 2,
  asks = 4,
  has_state = 8,
  has_clock = 16,
};

std::uint64_t bits(Time time) { return static_cast<std::uint64_t>(time); }
Time time_of(wire::Reader& in) { return static_cast<Time>(in.varint()); }

void write_sent(const Record::Sent& sent, wire::Writer& out) {
  wire::encode(out, sent.to);
  out.u8(sent.kind);
  out.u8(static_cast<std::uint8_t>(static_cast<unsigned>(sent.carries) * 4U +
                                   (sent.preempts ? 2U : 0U) + (sent.declares ? 1U : 0U)));
  out.varint(bits(sent.delay));
  out.bytes(sent.bytes);
}

Record::Sent read_sent(wire::Reader& in) {
  Record::Sent sent;
  read(in, sent.to);
  sent.kind = in.u8();
  const auto flags = in.u8();
  sent.carries = static_cast<Carries>(flags / 4);
  sent.preempts = (flags & 2) != 0;
  sent.declares = (flags & 1) != 0;
  sent.delay = time_of(in);
  sent.bytes = in.bytes();
  return sent;
}

void write_wish(const Wish& wish, wire::Writer& out) {
  out.varint(wish.group);
  out.varint(wish.needs.size());
  for (const auto& need : wish.needs) {
    out.varint(need.type);
    out.varint(need.count);
  }
}

Wish read_wish(wire::Reader& in) {
  Wish wish;
  wish.group = static_cast<std::uint32_t>(in.varint());
  for (auto left = in.varint(); in.ok() && left > 0; --left) {
    const auto type = static_cast<std::uint16_t>(in.varint());
    wish.needs.push_back({type, static_cast<std::uint16_t>(in.varint())});
  }
  return wish;
}

Record read_record(std::string_view bytes) {
  wire::Reader in(bytes);
  Record record;
  record.time = time_of(in);
  record.lag = time_of(in);
  read(in, record.node);
  record.kind = static_cast<EventKind>(in.u8());
  const auto flags = in.u8();
  record.lost = (flags & lost) != 0;
  read(in, record.from);
  record.message = in.varint();
  record.bytes = in.bytes();
  record.number = static_cast<std::uint32_t>(in.varint());
  record.choice = in.bytes();
  for (auto left = in.varint(); in.ok() && left > 0; --left) record.sends.push_back(read_sent(in));
  if ((flags & granted) != 0) read(in, record.fence.emplace());
  for (auto left = in.varint(); in.ok() && left > 0; --left) {
    auto& unit = record.units.emplace_back();
    read(in, unit.number);
    read(in, unit.fence);
  }
  if ((flags & asks) != 0) {
    record.wish = read_wish(in);
    record.since = time_of(in);
  }
  read(in, record.suspicions);
  if ((flags & has_state) != 0) record.state = in.bytes();
  if ((flags & has_clock) != 0) read(in, record.clock);
  TURNO_ASSERT(in.ok() && in.remaining() == 0);
  return record;
}

}  // namespace

void write(const Record& record, std::string& bytes) {
  wire::Writer out(bytes);
  const auto begin = bytes.size();
  out.u32(0);
  const bool is_request = record.kind == EventKind::request;
  const bool clocked = record.clock != VectorClock();
  out.varint(bits(record.time));
  out.varint(bits(record.lag));
  wire::encode(out, record.node);
  out.u8(static_cast<std::uint8_t>(record.kind));
  out.u8(static_cast<std::uint8_t>(
      (record.lost ? lost : 0) | (record.fence ? granted : 0) | (is_request ? asks : 0) |
      (record.state.empty() ? 0 : has_state) | (clocked ? has_clock : 0)));
  wire::encode(out, record.from);
  out.varint(record.message);
  out.bytes(record.bytes);
  out.varint(record.number);
  out.bytes(record.choice);
  out.varint(record.sends.size());
  for (const auto& sent : record.sends) write_sent(sent, out);
  if (record.fence) wire::encode(out, *record.fence);
  out.varint(record.units.size());
  for (const auto& unit : record.units) {
    out.varint(unit.number);
    wire::encode(out, unit.fence);
  }
  if (is_request) {
    write_wish(record.wish, out);
    out.varint(bits(record.since));
  }
  wire::encode(out, record.suspicions);
  if (!record.state.empty()) out.bytes(record.state);
  if (clocked) wire::encode(out, record.clock);
  out.patch_u32(begin, static_cast<std::uint32_t>(bytes.size() - begin - 4));
}

std::vector<Record> read_records(std::string_view bytes) {
  std::vector<Record> records;
  while (bytes.size() >= 4) {
    const auto size = wire::Reader(bytes).u32();
    if (bytes.size() - 4 < size) break;
    records.push_back(read_record(bytes.substr(4, size)));
    bytes.remove_prefix(std::size_t{4} + size);
  }
  return records;
}

}  // namespace turno::field
