// The systems in which recovery is explored, and how many states and transitions each has.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/setup.h"

namespace turno::cluster {

// The desks of all members, and their users.
struct Desks {
  std::uint8_t users = 1;     // of each member
  std::uint8_t in_a_row = 1;  // of them in one turn
  bool eager = false;         // a member asks ahead for a user that will come back
  bool collective = true;     // who has nothing says so for all things at once
  bool tries = false;         // users only try
  bool waits = false;         // or wait, as they like
  bool delay = false;         // clients outlive their node, and notice that it is dead
  bool forgetful = false;     // a desk that is idle is thrown away, and made anew when it is needed
  bool refusals = false;      // a member need not take whom another one sends
};

struct System {
  std::string_view name;
  std::size_t nodes = 3;       // those that join are the last of them
  std::uint16_t requests = 1;  // of each member, by whichever of its users
  std::uint32_t crashes = 0, joins = 0, retirements = 0;
  Desks desk{};
  std::uint32_t withdrawals = 0, lapses = 0, spoils = 0, early_timeouts = 0, moves = 0;
  std::uint32_t expulsions = 0;
  std::size_t requesters = 0;  // the first so many; 0: all
};

// One user a member, who dies with it.
constexpr System one_crash{"one_crash", 3, 1, 1};
constexpr System two_crashes{"two_crashes", 3, 1, 2};
constexpr System two_retirements{"two_retirements", 2, 2, 1, 0, 2};
constexpr System one_join{"one_join", 3, 1, 0, 1};
// Two users a member, in turns of two, who may give up waiting; the time of one may be over.
constexpr Desks two_users{.users = 2, .in_a_row = 2, .forgetful = true};
constexpr System turns{.name = "turns",
                       .nodes = 2,
                       .requests = 3,
                       .retirements = 1,
                       .desk = two_users,
                       .withdrawals = 1};
constexpr System lapses{
    .name = "lapses", .nodes = 2, .requests = 2, .crashes = 1, .desk = two_users, .lapses = 1};
// Clients outlive their node: what it had is kept until they know. (Here and above idle desks are
// forgotten, as nodes do.)
constexpr Desks delay{.delay = true, .forgetful = true};
constexpr System escrows{.name = "escrow", .nodes = 3, .crashes = 1, .desk = delay};
constexpr System escrow_for_two{
    .name = "escrow_for_two",
    .nodes = 2,
    .requests = 2,
    .crashes = 1,
    .retirements = 1,
    .desk = {.users = 2, .in_a_row = 2, .delay = true, .forgetful = true}};
// Users who only try.
constexpr System tries{
    .name = "tries", .nodes = 3, .requests = 2, .desk = {.tries = true, .forgetful = true}};
constexpr System tries_and_retirement{.name = "tries_and_retirement",
                                      .nodes = 3,
                                      .retirements = 1,
                                      .desk = {.tries = true, .forgetful = true}};
// Two users a member, who try or wait.
constexpr Desks tries_or_waits{
    .users = 2, .in_a_row = 2, .tries = true, .waits = true, .forgetful = true};
constexpr System tries_among_waits{
    .name = "tries_among_waits", .nodes = 2, .requests = 3, .desk = tries_or_waits};
// Peers that send what cannot be.
constexpr System spoiled{.name = "spoils", .nodes = 2, .requests = 2, .crashes = 1, .spoils = 1};
// A member that leaves, whose user moves to another one with what it has, while others may crash.
constexpr System move{.name = "move", .nodes = 3, .desk = delay, .moves = 1};
constexpr System move_and_crash{
    .name = "move_and_crash", .nodes = 3, .crashes = 1, .desk = delay, .moves = 1};
constexpr System move_of_two{.name = "move_of_two",
                             .nodes = 2,
                             .requests = 2,
                             .retirements = 1,
                             .desk = {.users = 2, .in_a_row = 2, .delay = true, .forgetful = true},
                             .moves = 1};
// A member that lives is dropped, and acts until its authority is over.
constexpr System expulsion{.name = "expulsion", .nodes = 3, .desk = delay, .expulsions = 1};
constexpr System expulsion_for_two{
    .name = "expulsion_for_two",
    .nodes = 2,
    .requests = 2,
    .retirements = 1,
    .desk = {.users = 2, .in_a_row = 2, .delay = true, .forgetful = true},
    .expulsions = 1};
constexpr System expulsion_and_crash{
    .name = "expulsion_and_crash", .nodes = 3, .crashes = 1, .desk = delay, .expulsions = 1};
// Whoever it is sent to need not take it; then it stays, and may be sent to the other one.
constexpr System refused_move{.name = "refused_move",
                              .nodes = 3,
                              .desk = {.delay = true, .forgetful = true, .refusals = true},
                              .moves = 1};
// Two that leave, one after the other or together; the second may be the heir of the first.
constexpr System two_moves{.name = "two_moves", .nodes = 3, .desk = delay, .moves = 2};
// Users that give up before their home can answer, because not all have reported.
constexpr System given_up{
    .name = "given_up", .nodes = 3, .joins = 1, .desk = {.forgetful = true}, .withdrawals = 2};
constexpr System tries_given_up{.name = "tries_given_up",
                                .nodes = 3,
                                .joins = 1,
                                .desk = {.tries = true, .forgetful = true},
                                .withdrawals = 2};
// Members that ask ahead for a user that comes back.
constexpr System eager{
    .name = "eager", .nodes = 2, .requests = 3, .retirements = 1, .desk = {.eager = true}};

struct Count {
  std::string_view algorithm;
  System system;
  std::uint64_t states, transitions;
};

constexpr Count counts[] = {
    {"central", one_crash, 5357, 13967},
    {"lamport", one_crash, 632267, 2600697},
    {"ricart-agrawala", one_crash, 134223, 491240},
    {"carvalho-roucairol", one_crash, 135726, 495198},
    {"maekawa", one_crash, 42861, 125773},
    {"token-ring", one_crash, 14003, 42811},
    {"suzuki-kasami", one_crash, 60144, 213404},
    {"raymond", one_crash, 6841, 17866},
    {"raymond-piggyback", one_crash, 6945, 18086},
    {"naimi-trehel", one_crash, 7483, 19599},
    {"nxr", one_crash, 7509, 19629},
    {"nxr-b", one_crash, 7401, 19397},
    {"nxr-bh", one_crash, 7579, 19743},
    {"dir", one_crash, 7471, 19587},
    {"central", two_retirements, 10090, 25103},
    {"lamport", two_retirements, 104590, 270213},
    {"ricart-agrawala", two_retirements, 42541, 107115},
    {"carvalho-roucairol", two_retirements, 35182, 88171},
    {"maekawa", two_retirements, 90058, 225846},
    {"token-ring", two_retirements, 35222, 91010},
    {"suzuki-kasami", two_retirements, 16223, 39493},
    {"raymond", two_retirements, 15235, 37358},
    {"raymond-piggyback", two_retirements, 15235, 37358},
    {"naimi-trehel", two_retirements, 15235, 37358},
    {"nxr", two_retirements, 15235, 37358},
    {"nxr-b", two_retirements, 15235, 37358},
    {"nxr-bh", two_retirements, 16122, 39201},
    {"dir", two_retirements, 15235, 37358},
    {"central", one_join, 2782, 7770},
    {"lamport", one_join, 80523, 292316},
    {"ricart-agrawala", one_join, 25476, 84123},
    {"carvalho-roucairol", one_join, 25291, 83650},
    {"maekawa", one_join, 11031, 31397},
    {"token-ring", one_join, 6261, 19754},
    {"suzuki-kasami", one_join, 12075, 39294},
    {"raymond", one_join, 3864, 10953},
    {"raymond-piggyback", one_join, 3898, 11015},
    {"naimi-trehel", one_join, 3878, 10800},
    {"nxr", one_join, 3945, 10856},
    {"nxr-b", one_join, 3818, 10660},
    {"nxr-bh", one_join, 3862, 10726},
    {"dir", one_join, 3966, 11347},
    {"central", two_crashes, 16600, 53730},
    {"maekawa", two_crashes, 181058, 648182},
    {"token-ring", two_crashes, 51243, 183511},
    {"suzuki-kasami", two_crashes, 216637, 895831},
    {"raymond", two_crashes, 23644, 76617},
    {"raymond-piggyback", two_crashes, 24073, 77778},
    {"naimi-trehel", two_crashes, 26681, 86478},
    {"nxr", two_crashes, 26746, 86594},
    {"nxr-b", two_crashes, 26482, 85827},
    {"nxr-bh", two_crashes, 27170, 87623},
    {"dir", two_crashes, 26655, 86428},
    {"central", turns, 64992, 143296},
    {"lamport", turns, 293793, 705586},
    {"ricart-agrawala", turns, 154492, 341552},
    {"carvalho-roucairol", turns, 90158, 206174},
    {"maekawa", turns, 389303, 845321},
    {"token-ring", turns, 105388, 241987},
    {"suzuki-kasami", turns, 69626, 159803},
    {"raymond", turns, 68131, 157413},
    {"raymond-piggyback", turns, 68131, 157413},
    {"naimi-trehel", turns, 68131, 157413},
    {"nxr", turns, 68670, 158540},
    {"nxr-b", turns, 68670, 158540},
    {"nxr-bh", turns, 72126, 164406},
    {"dir", turns, 68131, 157413},
    {"central", lapses, 2666, 6882},
    {"lamport", lapses, 13084, 37094},
    {"ricart-agrawala", lapses, 4877, 12831},
    {"carvalho-roucairol", lapses, 4015, 10331},
    {"maekawa", lapses, 14596, 38789},
    {"token-ring", lapses, 3795, 10539},
    {"suzuki-kasami", lapses, 2789, 7080},
    {"raymond", lapses, 2684, 6862},
    {"raymond-piggyback", lapses, 2684, 6862},
    {"naimi-trehel", lapses, 2684, 6862},
    {"nxr", lapses, 2684, 6862},
    {"nxr-b", lapses, 2684, 6862},
    {"nxr-bh", lapses, 2744, 6985},
    {"dir", lapses, 2684, 6862},
    {"central", escrows, 9852, 26953},
    {"lamport", escrows, 1182754, 4982661},
    {"ricart-agrawala", escrows, 248993, 935117},
    {"carvalho-roucairol", escrows, 247254, 935405},
    {"maekawa", escrows, 82451, 254491},
    {"token-ring", escrows, 24438, 76466},
    {"suzuki-kasami", escrows, 116789, 432301},
    {"raymond", escrows, 13307, 36478},
    {"raymond-piggyback", escrows, 13523, 36957},
    {"naimi-trehel", escrows, 14752, 40688},
    {"nxr", escrows, 14698, 40358},
    {"nxr-b", escrows, 14523, 39970},
    {"nxr-bh", escrows, 14943, 40822},
    {"dir", escrows, 14745, 40678},
    {"central", escrow_for_two, 10203, 25032},
    {"lamport", escrow_for_two, 61204, 161174},
    {"ricart-agrawala", escrow_for_two, 25349, 64696},
    {"carvalho-roucairol", escrow_for_two, 21321, 54376},
    {"maekawa", escrow_for_two, 56115, 139601},
    {"token-ring", escrow_for_two, 23065, 59314},
    {"suzuki-kasami", escrow_for_two, 12518, 30830},
    {"raymond", escrow_for_two, 12140, 30093},
    {"raymond-piggyback", escrow_for_two, 12140, 30093},
    {"naimi-trehel", escrow_for_two, 12140, 30093},
    {"nxr", escrow_for_two, 12140, 30093},
    {"nxr-b", escrow_for_two, 12140, 30093},
    {"nxr-bh", escrow_for_two, 12501, 30789},
    {"dir", escrow_for_two, 12140, 30093},
    {"central", tries, 7914, 15677},
    {"lamport", tries, 67882, 195232},
    {"ricart-agrawala", tries, 21296, 49901},
    {"carvalho-roucairol", tries, 14626, 32095},
    {"maekawa", tries, 24613, 58787},
    {"token-ring", tries, 27467, 71762},
    {"suzuki-kasami", tries, 65575, 186933},
    {"raymond", tries, 14175, 31435},
    {"raymond-piggyback", tries, 14175, 31435},
    {"naimi-trehel", tries, 16805, 38315},
    {"nxr", tries, 16805, 38315},
    {"nxr-b", tries, 16805, 38315},
    {"nxr-bh", tries, 16897, 38573},
    {"dir", tries, 16045, 36871},
    {"central", tries_and_retirement, 2628, 5032},
    {"lamport", tries_and_retirement, 111429, 328954},
    {"ricart-agrawala", tries_and_retirement, 20622, 53219},
    {"carvalho-roucairol", tries_and_retirement, 20502, 53024},
    {"maekawa", tries_and_retirement, 18148, 44630},
    {"token-ring", tries_and_retirement, 25641, 66825},
    {"suzuki-kasami", tries_and_retirement, 22586, 60494},
    {"raymond", tries_and_retirement, 2688, 5090},
    {"raymond-piggyback", tries_and_retirement, 2688, 5090},
    {"naimi-trehel", tries_and_retirement, 4126, 8352},
    {"nxr", tries_and_retirement, 4126, 8352},
    {"nxr-b", tries_and_retirement, 4126, 8352},
    {"nxr-bh", tries_and_retirement, 4126, 8352},
    {"dir", tries_and_retirement, 3358, 6502},
    {"central", tries_among_waits, 38875, 111409},
    {"lamport", tries_among_waits, 132937, 377215},
    {"ricart-agrawala", tries_among_waits, 63790, 167221},
    {"carvalho-roucairol", tries_among_waits, 63432, 182950},
    {"maekawa", tries_among_waits, 129136, 316894},
    {"token-ring", tries_among_waits, 65123, 182545},
    {"suzuki-kasami", tries_among_waits, 49065, 144393},
    {"raymond", tries_among_waits, 47802, 141725},
    {"raymond-piggyback", tries_among_waits, 47802, 141725},
    {"naimi-trehel", tries_among_waits, 47802, 141725},
    {"nxr", tries_among_waits, 46663, 137470},
    {"nxr-b", tries_among_waits, 46663, 137470},
    {"nxr-bh", tries_among_waits, 50688, 146543},
    {"dir", tries_among_waits, 47802, 141725},
    {"central", move, 8428, 24246},
    {"ricart-agrawala", move, 32817, 103463},
    {"maekawa", move, 35769, 101276},
    {"suzuki-kasami", move, 65849, 242592},
    {"nxr-bh", move, 13772, 41982},
    {"dir", move, 14094, 43453},
    {"lamport", move, 222917, 872337},
    {"carvalho-roucairol", move, 31691, 101370},
    {"token-ring", move, 10458, 31422},
    {"raymond", move, 12858, 39733},
    {"raymond-piggyback", move, 12862, 39737},
    {"naimi-trehel", move, 14094, 43453},
    {"nxr", move, 13596, 41624},
    {"nxr-b", move, 13516, 41474},
    {"central", move_and_crash, 78611, 236820},
    {"nxr-bh", move_and_crash, 134686, 427375},
    {"dir", move_and_crash, 136854, 436162},
    {"lamport", move_and_crash, 5206408, 22963576},
    {"carvalho-roucairol", move_and_crash, 946903, 3656108},
    {"token-ring", move_and_crash, 110727, 355758},
    {"raymond", move_and_crash, 121188, 384069},
    {"raymond-piggyback", move_and_crash, 121805, 385529},
    {"naimi-trehel", move_and_crash, 136861, 436172},
    {"nxr", move_and_crash, 133203, 423943},
    {"nxr-b", move_and_crash, 132643, 422547},
    {"central", move_of_two, 14071, 30994},
    {"ricart-agrawala", move_of_two, 22696, 49913},
    {"maekawa", move_of_two, 32418, 69973},
    {"suzuki-kasami", move_of_two, 17309, 39244},
    {"nxr-bh", move_of_two, 17334, 39287},
    {"dir", move_of_two, 17079, 38807},
    {"lamport", move_of_two, 36815, 83856},
    {"carvalho-roucairol", move_of_two, 19187, 43397},
    {"token-ring", move_of_two, 15280, 33961},
    {"raymond", move_of_two, 17079, 38807},
    {"raymond-piggyback", move_of_two, 17079, 38807},
    {"naimi-trehel", move_of_two, 17079, 38807},
    {"nxr", move_of_two, 17079, 38807},
    {"nxr-b", move_of_two, 17079, 38807},
    {"central", spoiled, 9019, 22008},
    {"lamport", spoiled, 57175, 145468},
    {"ricart-agrawala", spoiled, 22793, 55819},
    {"carvalho-roucairol", spoiled, 18870, 45464},
    {"maekawa", spoiled, 56780, 140544},
    {"token-ring", spoiled, 17344, 43763},
    {"suzuki-kasami", spoiled, 12337, 29563},
    {"raymond", spoiled, 11656, 28116},
    {"raymond-piggyback", spoiled, 11656, 28116},
    {"naimi-trehel", spoiled, 11656, 28116},
    {"nxr", spoiled, 11656, 28116},
    {"nxr-b", spoiled, 11656, 28116},
    {"nxr-bh", spoiled, 12258, 29366},
    {"dir", spoiled, 11656, 28116},
    {"central", refused_move, 30116, 75103},
    {"ricart-agrawala", refused_move, 96643, 276207},
    {"maekawa", refused_move, 129487, 324745},
    {"suzuki-kasami", refused_move, 176444, 604282},
    {"nxr-bh", refused_move, 41786, 111235},
    {"dir", refused_move, 41402, 111913},
    {"central", two_moves, 19412, 59066},
    {"ricart-agrawala", two_moves, 44557, 136845},
    {"maekawa", two_moves, 53217, 146152},
    {"suzuki-kasami", two_moves, 118812, 431902},
    {"nxr-bh", two_moves, 32052, 99462},
    {"dir", two_moves, 33001, 103590},
    {"central", given_up, 17111, 54383},
    {"ricart-agrawala", given_up, 270658, 1147629},
    {"maekawa", given_up, 105382, 368907},
    {"suzuki-kasami", given_up, 75274, 288474},
    {"nxr-bh", given_up, 23778, 78520},
    {"dir", given_up, 24250, 81548},
    {"central", tries_given_up, 13113, 39522},
    {"ricart-agrawala", tries_given_up, 18930, 58265},
    {"maekawa", tries_given_up, 33243, 99544},
    {"suzuki-kasami", tries_given_up, 19819, 59211},
    {"nxr-bh", tries_given_up, 12573, 37075},
    {"dir", tries_given_up, 12622, 37205},
    {"nxr-b", eager, 7351, 11022},
    {"nxr-bh", eager, 7601, 11312},
    {"central", expulsion, 16292, 49663},
    {"ricart-agrawala", expulsion, 369168, 1468337},
    {"maekawa", expulsion, 123990, 410756},
    {"suzuki-kasami", expulsion, 185510, 734395},
    {"nxr-bh", expulsion, 24282, 73250},
    {"dir", expulsion, 23925, 72785},
    {"central", expulsion_for_two, 20027, 55293},
    {"ricart-agrawala", expulsion_for_two, 45928, 129488},
    {"maekawa", expulsion_for_two, 94093, 257867},
    {"suzuki-kasami", expulsion_for_two, 23710, 65855},
    {"nxr-bh", expulsion_for_two, 23623, 65668},
    {"dir", expulsion_for_two, 23128, 64686},
};

constexpr System crash_and_retirement{"crash_and_retirement", 3, 1, 1, 0, 1};
constexpr System crash_and_join{"crash_and_join", 3, 1, 1, 1};
constexpr System two_requests{"two_requests", 3, 2, 1};
constexpr System two_requests_and_retirement{"two_requests_and_retirement", 3, 2, 1, 0, 1};
constexpr System two_crashes_and_retirement{"two_crashes_and_retirement", 3, 1, 2, 0, 1};
constexpr System four_nodes{"four_nodes", 4, 1, 1};
constexpr System four_nodes_and_join{"four_nodes_and_join", 4, 1, 1, 1};
constexpr System escrow_and_join{
    .name = "escrow_and_join", .nodes = 3, .crashes = 1, .joins = 1, .desk = delay};
constexpr System escrow_twice{.name = "escrow_twice", .nodes = 3, .crashes = 2, .desk = delay};
constexpr System turns_of_three{.name = "turns_of_three",
                                .nodes = 3,
                                .requests = 2,
                                .crashes = 1,
                                .desk = two_users,
                                .withdrawals = 1};
constexpr System tries_and_crash{.name = "tries_and_crash",
                                 .nodes = 3,
                                 .crashes = 1,
                                 .desk = {.tries = true, .delay = true, .forgetful = true}};
constexpr System eager_and_crash{
    .name = "eager_and_crash", .nodes = 3, .requests = 3, .crashes = 1, .desk = {.eager = true}};

// Each below five million states and two GiB; what is not here is larger.
constexpr Count deep_counts[] = {
    {"ricart-agrawala", move_and_crash, 862018, 3314844},
    {"maekawa", move_and_crash, 431232, 1462860},
    {"suzuki-kasami", move_and_crash, 913049, 3729389},
    {"lamport", two_crashes, 2936141, 13572395},
    {"ricart-agrawala", two_crashes, 612923, 2597677},
    {"carvalho-roucairol", two_crashes, 623795, 2634108},
    {"central", crash_and_retirement, 58972, 181046},
    {"maekawa", crash_and_retirement, 1891674, 6979798},
    {"token-ring", crash_and_retirement, 405870, 1437905},
    {"suzuki-kasami", crash_and_retirement, 4283870, 18294047},
    {"raymond", crash_and_retirement, 82678, 256795},
    {"raymond-piggyback", crash_and_retirement, 84134, 260645},
    {"naimi-trehel", crash_and_retirement, 101938, 313024},
    {"nxr", crash_and_retirement, 102453, 314230},
    {"nxr-b", crash_and_retirement, 100544, 308768},
    {"nxr-bh", crash_and_retirement, 103438, 316853},
    {"dir", crash_and_retirement, 96992, 299339},
    {"central", crash_and_join, 41604, 142857},
    {"lamport", crash_and_join, 2540597, 11018604},
    {"ricart-agrawala", crash_and_join, 694519, 2824676},
    {"carvalho-roucairol", crash_and_join, 694757, 2824242},
    {"maekawa", crash_and_join, 284289, 1003703},
    {"token-ring", crash_and_join, 108206, 409497},
    {"suzuki-kasami", crash_and_join, 303606, 1198297},
    {"raymond", crash_and_join, 72917, 255633},
    {"raymond-piggyback", crash_and_join, 73649, 257753},
    {"naimi-trehel", crash_and_join, 82282, 281271},
    {"nxr", crash_and_join, 82214, 280558},
    {"nxr-b", crash_and_join, 80684, 276291},
    {"nxr-bh", crash_and_join, 81974, 279589},
    {"dir", crash_and_join, 79086, 277994},
    {"central", two_requests, 39044, 108910},
    {"ricart-agrawala", two_requests, 1233108, 4493572},
    {"carvalho-roucairol", two_requests, 537617, 1832697},
    {"maekawa", two_requests, 1273326, 4034687},
    {"token-ring", two_requests, 102038, 345881},
    {"suzuki-kasami", two_requests, 1175134, 4721724},
    {"raymond", two_requests, 49448, 136535},
    {"raymond-piggyback", two_requests, 51564, 141865},
    {"naimi-trehel", two_requests, 66292, 182583},
    {"nxr", two_requests, 69691, 192895},
    {"nxr-b", two_requests, 63706, 175395},
    {"nxr-bh", two_requests, 80511, 223197},
    {"dir", two_requests, 59210, 165752},
    {"central", four_nodes, 169552, 609658},
    {"token-ring", four_nodes, 426342, 1730745},
    {"raymond", four_nodes, 242064, 875440},
    {"raymond-piggyback", four_nodes, 250756, 902858},
    {"naimi-trehel", four_nodes, 343504, 1251086},
    {"nxr", four_nodes, 342453, 1237739},
    {"nxr-b", four_nodes, 328498, 1194330},
    {"nxr-bh", four_nodes, 356628, 1274855},
    {"dir", four_nodes, 327511, 1195641},
    {"central", four_nodes_and_join, 4704582, 23027399},
    {"central", two_requests_and_retirement, 992347, 3319027},
    {"raymond", two_requests_and_retirement, 1458312, 4912997},
    {"raymond-piggyback", two_requests_and_retirement, 1510306, 5067736},
    {"naimi-trehel", two_requests_and_retirement, 4202256, 14912013},
    {"nxr", two_requests_and_retirement, 4021082, 14149741},
    {"nxr-b", two_requests_and_retirement, 3755750, 13201333},
    {"nxr-bh", two_requests_and_retirement, 2885226, 9677230},
    {"dir", two_requests_and_retirement, 2230517, 7561345},
    {"central", two_crashes_and_retirement, 235291, 873205},
    {"token-ring", two_crashes_and_retirement, 1977170, 8114523},
    {"raymond", two_crashes_and_retirement, 378888, 1413306},
    {"raymond-piggyback", two_crashes_and_retirement, 386893, 1439606},
    {"naimi-trehel", two_crashes_and_retirement, 474415, 1744016},
    {"nxr", two_crashes_and_retirement, 476420, 1751302},
    {"nxr-b", two_crashes_and_retirement, 468870, 1724167},
    {"nxr-bh", two_crashes_and_retirement, 482969, 1770950},
    {"dir", two_crashes_and_retirement, 450331, 1664910},
    {"central", escrow_and_join, 102158, 350165},
    {"ricart-agrawala", escrow_and_join, 1388914, 5693034},
    {"carvalho-roucairol", escrow_and_join, 1392318, 5749084},
    {"maekawa", escrow_and_join, 672020, 2372777},
    {"token-ring", escrow_and_join, 259751, 960632},
    {"suzuki-kasami", escrow_and_join, 649142, 2629575},
    {"raymond", escrow_and_join, 178936, 635103},
    {"raymond-piggyback", escrow_and_join, 180304, 639188},
    {"naimi-trehel", escrow_and_join, 206793, 720858},
    {"nxr", escrow_and_join, 205280, 713887},
    {"nxr-b", escrow_and_join, 202726, 706624},
    {"nxr-bh", escrow_and_join, 206950, 717557},
    {"dir", escrow_and_join, 195144, 695256},
    {"central", escrow_twice, 39290, 129789},
    {"ricart-agrawala", escrow_twice, 1372763, 5884639},
    {"carvalho-roucairol", escrow_twice, 1381044, 5908890},
    {"maekawa", escrow_twice, 424981, 1572434},
    {"token-ring", escrow_twice, 111122, 399834},
    {"suzuki-kasami", escrow_twice, 513440, 2162395},
    {"raymond", escrow_twice, 56835, 188963},
    {"raymond-piggyback", escrow_twice, 57897, 191939},
    {"naimi-trehel", escrow_twice, 64783, 215673},
    {"nxr", escrow_twice, 63952, 212172},
    {"nxr-b", escrow_twice, 63451, 210689},
    {"nxr-bh", escrow_twice, 65494, 216262},
    {"dir", escrow_twice, 64764, 215637},
    {"central", turns_of_three, 340743, 1169840},
    {"token-ring", turns_of_three, 787120, 2984235},
    {"raymond", turns_of_three, 439055, 1532718},
    {"raymond-piggyback", turns_of_three, 455812, 1586777},
    {"naimi-trehel", turns_of_three, 568873, 1968350},
    {"nxr", turns_of_three, 584611, 2012278},
    {"nxr-b", turns_of_three, 545953, 1888069},
    {"nxr-bh", turns_of_three, 658533, 2260621},
    {"dir", turns_of_three, 531609, 1879633},
    {"central", tries_and_crash, 9934, 24993},
    {"lamport", tries_and_crash, 117983, 400084},
    {"ricart-agrawala", tries_and_crash, 23332, 64700},
    {"carvalho-roucairol", tries_and_crash, 22631, 63741},
    {"maekawa", tries_and_crash, 39702, 113553},
    {"token-ring", tries_and_crash, 60054, 186277},
    {"suzuki-kasami", tries_and_crash, 28631, 80963},
    {"raymond", tries_and_crash, 11260, 27739},
    {"raymond-piggyback", tries_and_crash, 11260, 27739},
    {"naimi-trehel", tries_and_crash, 11209, 27537},
    {"nxr", tries_and_crash, 11209, 27537},
    {"nxr-b", tries_and_crash, 11209, 27537},
    {"nxr-bh", tries_and_crash, 11226, 27567},
    {"dir", tries_and_crash, 11112, 27345},
    {"nxr-b", eager_and_crash, 1316618, 3638888},
    {"nxr-bh", eager_and_crash, 1975895, 5472839},
};

}  // namespace turno::cluster
