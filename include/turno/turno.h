// The whole library.
#pragma once

#include "turno/client.h"
#include "turno/election.h"
#include "turno/error.h"
#include "turno/grant.h"
#include "turno/mutex.h"
#include "turno/node.h"
#include "turno/reservation.h"  // several resources at once
#include "turno/room.h"
#include "turno/semaphore.h"
#include "turno/service.h"
