// What members ask and tell each other to find deadlocks, as bytes.
#pragma once

#include <optional>
#include <vector>

#include "cluster/waits/pursuit.h"
#include "wire/buffer.h"

namespace turno::table {

void encode(wire::Writer& out, const cluster::Summons& summons);
void encode(wire::Writer& out, const std::vector<cluster::Testimony>& testimonies);
void encode(wire::Writer& out, const cluster::Verdict& verdict);

// Nothing: it makes no sense. `member` is who testifies: of its own sessions only.
std::optional<cluster::Summons> decode_summons(wire::Reader& in);
std::optional<std::vector<cluster::Testimony>> decode_testimonies(wire::Reader& in,
                                                                  std::uint64_t member);
std::optional<cluster::Verdict> decode_verdict(wire::Reader& in);

}  // namespace turno::table
