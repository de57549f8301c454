// A view as the text that etcd keeps: one JSON object.
#pragma once

#include <string>
#include <string_view>

#include "registry/registry.h"

namespace turno::registry {

[[nodiscard]] std::string to_text(const View& view);
// An error (damaged): what is wrong with it. Fields that are not known are passed over.
[[nodiscard]] Expected<View> view_from_text(std::string_view text);

}  // namespace turno::registry
