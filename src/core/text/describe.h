// Values as text for people and as JSON for programs, from `fields()` and `labels`.
#pragma once

#include <concepts>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include "core/fields.h"
#include "core/text/json.h"

namespace turno {

template <class T>
std::string describe(const T& value) {
  if constexpr (std::same_as<T, bool>) {
    return value ? "yes" : "no";
  } else if constexpr (std::same_as<T, NodeId>) {
    return value == nobody ? "-" : std::to_string(value.value);
  } else if constexpr (std::same_as<T, Fence>) {
    // The first epoch goes without saying.
    return (value.epoch() > 1 ? std::to_string(value.epoch()) + ":" : "") +
           std::to_string(value.count());
  } else if constexpr (std::same_as<T, Stamp>) {
    return std::to_string(value.value);
  } else if constexpr (std::is_enum_v<T>) {
    return std::to_string(static_cast<unsigned>(value));
  } else if constexpr (std::integral<T>) {
    return std::to_string(value);
  } else if constexpr (std::same_as<T, NodeSet>) {
    std::string text;
    value.for_each([&](NodeId node) { text += (text.empty() ? "" : " ") + describe(node); });
    return "{" + text + "}";
  } else if constexpr (std::same_as<T, std::string>) {
    return value;
  } else if constexpr (HasFields<T>) {
    std::string text;
    std::apply(
        [&](const auto&... field) { ((text += (text.empty() ? "" : ":") + describe(field)), ...); },
        value.fields());
    return text;
  } else {
    std::string text;
    for (const auto& element : value) text += (text.empty() ? "" : " ") + describe(element);
    return "[" + text + "]";
  }
}

template <class T>
std::string to_json(const T& value) {
  if constexpr (std::same_as<T, bool>) {
    return value ? "true" : "false";
  } else if constexpr (std::same_as<T, NodeId>) {
    return value == nobody ? "null" : std::to_string(value.value);
  } else if constexpr (std::same_as<T, Fence>) {
    return json_string(std::to_string(value.value));
  } else if constexpr (std::same_as<T, NodeSet>) {
    std::vector<std::string> nodes;
    value.for_each([&](NodeId node) { nodes.push_back(to_json(node)); });
    return json_array(nodes);
  } else if constexpr (std::same_as<T, std::string>) {
    return json_string(value);
  } else if constexpr (HasFields<T>) {
    return std::apply([](const auto&... field) { return json_array({to_json(field)...}); },
                      value.fields());
  } else if constexpr (std::integral<T> || std::is_enum_v<T> || std::same_as<T, Stamp>) {
    return describe(value);
  } else {
    std::vector<std::string> elements;
    for (const auto& element : value) elements.push_back(to_json(element));
    return json_array(elements);
  }
}

// Calls visit(label, field) for each field that does not have its default value.
template <class T, class Visit>
void for_each_set_field(const T& value, Visit visit) {
  const T blank{};
  const auto fields = value.fields();
  const auto defaults = blank.fields();
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    ((std::get<I>(fields) == std::get<I>(defaults)
          ? void()
          : visit(std::string_view{T::labels[I]}, std::get<I>(fields))),
     ...);
  }
  (std::make_index_sequence<std::tuple_size_v<decltype(fields)>>{});
}

template <class Message>
std::string_view kind_name(const Message& message) {
  return Message::kinds[static_cast<std::size_t>(message.kind)];
}

template <class Message>
std::string describe_message(const Message& message) {
  std::string text;
  for_each_set_field(message, [&](std::string_view label, const auto& field) {
    if (label == "kind") return;
    text += (text.empty() ? "" : ", ") + std::string(label) + " " + describe(field);
  });
  return std::string(kind_name(message)) + (text.empty() ? "" : "(" + text + ")");
}

template <class Message>
std::string json_message(const Message& message) {
  Json json;
  json.add("kind", kind_name(message));
  for_each_set_field(message, [&](std::string_view label, const auto& field) {
    if (label != "kind") json.add_raw(label, to_json(field));
  });
  return json.text();
}

// What is not at its default in a node's state: {"father":2,"token":true}.
template <class P>
std::string json_state(const P& node) {
  Json json;
  for_each_set_field(node, [&](std::string_view label, const auto& field) {
    json.add_raw(label, to_json(field));
  });
  return json.text();
}

// The same for people: "father 2, token yes".
template <class P>
std::string describe_state(const P& node) {
  std::string text;
  for_each_set_field(node, [&](std::string_view label, const auto& field) {
    text += (text.empty() ? "" : ", ") + std::string(label) + " " + describe(field);
  });
  return text.empty() ? "as at the start" : text;
}

}  // namespace turno
