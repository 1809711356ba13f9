/* A submission and a completion ring between lanes and one drive (design section 4, rules 1 to 8), without failures.
 *
 * Lanes take tickets, fill and mark their slots, combine their doorbells, reap for all and run continuations.
 * Each assertion is a promise; a state in which a lane waits for ever is an invalid end state.
 *
 * mutant: NO_TURN_WAIT        a ticket's slot is filled without waiting for it
 * mutant: NO_NEXT_SLOT        the next slot need not be free: a full ring looks empty
 * mutant: COMBINES_ONCE       the combiner returns though others were counted meanwhile
 * mutant: MARKS_FIRST         the mark precedes the entry (DEPTH=4)
 * mutant: REAPS_UNLOCKED      two lanes reap at once
 * mutant: IGNORES_PHASE       an entry is taken whether or not the drive has written it
 * mutant: CLAIMS_WITHOUT_CAS  looking and claiming are two steps
 * mutant: IDLE_TURN_WAIT      the turn wait neither reaps nor claims
 */
#ifndef DEPTH
#define DEPTH 2
#endif
#define MOST 4 /* slots, of any DEPTH */
#define LANES 3
#define COMMANDS 4 /* two by lane 0, which does not wait for its first; one by each other lane */

mtype = { is_free, in_flight, done, claimed };
typedef slot { byte turn; mtype state = is_free; byte entry; byte command };
typedef completion { byte id; bit round };

slot slots[MOST];
byte tickets, pending, tail;
completion completions[MOST];
byte reaped, rung_submission, rung_completion;
bit lock, phase = 1;

byte executed[COMMANDS];   /* by the drive */
byte result[COMMANDS];     /* what the continuation adds to: the waiter's own word */

#define SLOT(t) ((t) % DEPTH)
#define TURN(t) ((t) / DEPTH)

#ifdef NO_NEXT_SLOT
#define NEXT_IS_FREE(t) true
#else
#define NEXT_IS_FREE(t) (slots[SLOT((t) + 1)].turn >= TURN((t) + 1))
#endif
#ifdef NO_TURN_WAIT
#define MY_TURN(t) true
#else
#define MY_TURN(t) (slots[SLOT(t)].state == is_free && slots[SLOT(t)].turn == TURN(t) && NEXT_IS_FREE(t))
#endif
#ifdef IGNORES_PHASE
#define ANSWERED (rung_submission != 0)
#else
#define ANSWERED (completions[reaped].round == phase)
#endif

inline claim(where) {
#ifdef CLAIMS_WITHOUT_CAS
  slots[where].state == done;
  slots[where].state = claimed;
#else
  d_step { slots[where].state == done -> slots[where].state = claimed };
#endif
  c = slots[where].command;
  d_step { result[c]++; assert(result[c] == 1); assert(executed[c] == 1); c = 0 }
  d_step { slots[where].turn++; slots[where].state = is_free }
}

inline reap() {
#ifdef REAPS_UNLOCKED
  ANSWERED;
#else
  atomic { lock == 0 && ANSWERED -> lock = 1 };
#endif
  s = completions[reaped].id;
  d_step {
    assert(slots[s].state == in_flight);   /* published once, and only what was in flight */
    slots[s].state = done;
    reaped = (reaped + 1) % DEPTH;
    if :: reaped == 0 -> phase = 1 - phase :: else fi
  }
  rung_completion = reaped;
  lock = 0;
  if /* whoever took an answer in finishes its command, unless somebody was faster */
  :: claim(s)
  :: slots[s].state != done
  fi
}

inline await_turn() {
  do
  :: MY_TURN(ticket) -> break
#ifndef IDLE_TURN_WAIT
  :: reap()
  :: claim(SLOT(ticket))
  :: claim(SLOT(ticket + 1))
#endif
  od
}

inline mark() {
  d_step {
    assert(slots[SLOT(ticket)].state == is_free);
    slots[SLOT(ticket)].state = in_flight;
    slots[SLOT(ticket)].turn = TURN(ticket)
  }
}

inline fill() {
  d_step { slots[SLOT(ticket)].entry = command + 1; slots[SLOT(ticket)].command = command }
}

inline combine() {
  atomic { counted = (pending == 0 -> 1 : 0); pending++ };
  do
  :: counted == 0 -> break
  :: else ->
    do
    :: d_step { slots[SLOT(tail)].state == in_flight && slots[SLOT(tail)].turn == TURN(tail) -> tail++ }
    :: else -> break
    od;
    rung_submission = tail % DEPTH;
    atomic { pending = pending - counted; counted = pending };
#ifdef COMBINES_ONCE
    counted = 0
#endif
  od
}

inline submit() {
  atomic { ticket = tickets; tickets++ };
  await_turn();
#ifdef MARKS_FIRST
  mark(); fill();
#else
  fill(); mark();
#endif
  combine()
}

inline await_result() {
  do
  :: result[command] != 0 -> break
  :: reap()
  :: claim(SLOT(ticket))
  od
}

active [LANES] proctype lane() {
  byte ticket, command, counted, s, c;
  command = _pid;
  if
  :: _pid == 0 -> submit(); command = LANES   /* a prefetch: nobody waits for it */
  :: else
  fi;
  submit();
  await_result()
}

/* Trusts its doorbell, fetches in order, completes in any order, stops where the completion ring is full. */
active proctype drive() {
  byte fetched, written, k;
  byte working[MOST];
  bit my_phase = 1;
end:
  do
  :: d_step {
       fetched % DEPTH != rung_submission ->
       k = fetched % DEPTH;
       assert(slots[k].state == in_flight && slots[k].turn == TURN(fetched));
       assert(slots[k].entry == slots[k].command + 1 && working[k] == 0);
       working[k] = slots[k].entry;
       fetched++; k = 0
     }
  :: atomic {
       (written + 1) % DEPTH != rung_completion && (working[0] || working[1] || working[2] || working[3]) ->
       if
       :: working[0] -> k = 0
       :: working[1] -> k = 1
       :: working[2] -> k = 2
       :: working[3] -> k = 3
       fi;
       executed[working[k] - 1] = 1;
       completions[written].id = k;
       completions[written].round = my_phase;
       written = (written + 1) % DEPTH;
       if :: written == 0 -> my_phase = 1 - my_phase :: else fi;
       working[k] = 0; k = 0
     }
  od
}
