/* The life of one frame that several pages want (design section 5): one word holds state, tag, version, pins and dirt.
 *
 * Readers read optimistically, writers pin, whoever needs another page takes the frame when it is clean and unpinned,
 * and passers-by start writes of dirty frames. One word changes in one step, data in another.
 *
 * mutant: EVICTS_PINNED     a pinned frame is taken
 * mutant: EVICTS_DIRTY      a dirty frame is taken: its bytes never reach the drive
 * mutant: PINS_ANY_VERSION  the pin does not name the version that was looked at
 * mutant: CLEANS_PINNED     a write starts while somebody changes the bytes
 * mutant: NO_LOOK_BACK      an optimistic reader trusts its first look
 * mutant: LOADER_UNPINNED   a frame is loaded without its loader's pin
 */
#define PAGES 3   /* 1 and 2; 0 is no page */

mtype = { vacant, loading, valid, dirty, writing };

mtype state = vacant;
byte tag, version, pins;
byte holds, value;         /* whose bytes lie in the frame, and how many writes they contain */
byte stored[PAGES];        /* on the drive */
byte truth[PAGES];         /* writes that have been made */
chan commands = [2] of { bit, byte };   /* is it a write, which page */

#define RESIDENT(p) (tag == (p) && (state == valid || state == dirty || state == writing))
#ifdef EVICTS_DIRTY
#define TAKEABLE (state == vacant || state == valid || state == dirty)
#else
#define TAKEABLE (state == vacant || state == valid)
#endif
#ifdef EVICTS_PINNED
#define UNPINNED true
#else
#define UNPINNED (pins == 0)
#endif
#ifdef CLEANS_PINNED
#define CLEANABLE (state == dirty)
#else
#define CLEANABLE (state == dirty && pins == 0)
#endif
#ifdef PINS_ANY_VERSION
#define SAME_VERSION true
#else
#define SAME_VERSION (tag == page && version == seen)
#endif

#ifdef LOADER_UNPINNED
#define BORN_WITH 0
#else
#define BORN_WITH 1
#endif

inline start_write() {
  atomic { CLEANABLE -> state = writing; commands ! 1, tag }
}

inline take() {
  atomic {
    !RESIDENT(page) && TAKEABLE && UNPINNED ->
    state = loading; tag = page; version++; pins = pins + BORN_WITH
  };
  seen = version;
  commands ! 0, page;
  state != loading || version != seen
}

/* The loader has its page and its pin: nobody can have taken the frame. */
inline read_as_loader() {
  d_step { assert(holds == page && value >= least) };
  pins = pins - BORN_WITH
}

inline read_optimistically() {
  d_step { RESIDENT(page) -> seen = version };
  d_step { found = holds; count = value };
#ifndef NO_LOOK_BACK
  if
  :: d_step { RESIDENT(page) && version == seen -> skip }
  :: else -> goto again
  fi;
#endif
  d_step { assert(found == page && count >= least); found = 0; count = 0 }
}

inline change_bytes() {
  d_step { assert(holds == page && tag == page); value++; truth[page]++ };
  pins--
}

proctype reader(byte page) {
  byte seen, found, count, least;
  least = truth[page];
again:
  if
  :: read_optimistically()
  :: take() -> read_as_loader()
  :: start_write() -> goto again
  fi
}

proctype writer(byte page) {
  byte seen;
again:
  if
  :: d_step { RESIDENT(page) && state != writing -> seen = version };
     if
     :: atomic { (state == valid || state == dirty) && SAME_VERSION -> state = dirty; pins++ }
     :: else -> goto again
     fi
  :: take() ->
     atomic { state != writing -> state = dirty; pins = pins + 1 - BORN_WITH }
  :: start_write() -> goto again
  fi;
  change_bytes()
}

active proctype drive() {
  byte page;
end:
  do
  :: atomic { commands ? [0, page] -> commands ? 0, page };
     d_step { holds = page; value = stored[page] };
     state = valid
  :: atomic { commands ? [1, page] -> commands ? 1, page };
     d_step { assert(holds == page); stored[page] = value };
     d_step { state = valid; assert(stored[page] == value) }   /* clean means that the drive has these bytes */
  od
}

init {
  atomic { run writer(1); run writer(1); run writer(2); run reader(1) }
}
