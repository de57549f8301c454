// Every lock algorithm as an engine.
#include <array>

#include "node/engine_of.h"
#include "protocols/locks.h"

namespace turno::node {

namespace {

struct Maker {
  std::string_view name;
  std::unique_ptr<Engine> (*make)();
};

template <class... P>
constexpr auto makers(List<P...>) {
  return std::array<Maker, sizeof...(P)>{Maker{
      P::info.name, [] { return std::unique_ptr<Engine>(std::make_unique<EngineOf<P>>()); }}...};
}
constexpr auto all = makers(Locks{});

}  // namespace

std::unique_ptr<Engine> make_engine(std::string_view algorithm) {
  for (const auto& maker : all)
    if (maker.name == algorithm) return maker.make();
  return nullptr;
}

std::vector<std::string_view> engine_names() {
  std::vector<std::string_view> names;
  names.reserve(all.size());
  for (const auto& maker : all) names.push_back(maker.name);
  return names;
}

}  // namespace turno::node
