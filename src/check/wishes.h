// What the users of an exploration ask for.
#pragma once

#include <cstdint>
#include <vector>

#include "check/options.h"
#include "core/demand.h"

namespace turno::check {

class Wishes {
 public:
  explicit Wishes(const Options& options) : options_(options) {}

  [[nodiscard]] bool asks(NodeId node) const {
    return options_.requesters.empty() || options_.requesters.contains(node);
  }
  // How often, unless for ever.
  [[nodiscard]] std::uint16_t requests_of(NodeId node) const {
    if (options_.forever || !asks(node)) return 0;
    if (options_.scripts.empty()) return options_.requests;
    return node.index() < options_.scripts.size()
               ? static_cast<std::uint16_t>(options_.scripts[node.index()].size())
               : std::uint16_t{0};
  }
  // Among how many wishes its next request may choose.
  [[nodiscard]] std::size_t choices(NodeId node) const {
    const auto* menu = menu_of(node);
    return menu == nullptr ? 1 : menu->size();
  }
  // What it asks for if so many requests are left, and chooses so.
  [[nodiscard]] Demand demand(NodeId node, std::size_t left, std::size_t choice) const {
    if (const auto* menu = menu_of(node)) return (*menu)[choice].demand();
    if (node.index() >= options_.scripts.size()) return {};
    const auto& script = options_.scripts[node.index()];
    return left > script.size() ? Demand{} : script[script.size() - left].demand();
  }

 private:
  [[nodiscard]] const std::vector<Wish>* menu_of(NodeId node) const {
    const auto& menus = options_.menus;
    return menus.empty() ? nullptr : &menus[node.index() < menus.size() ? node.index() : 0];
  }

  const Options& options_;
};

}  // namespace turno::check
