/**
 * The first words of exported functions: one word for each act. Names that begin with a capital are
 * schema builders.
 */
export const WORDS: readonly string[] = [
  // One row or null, many, a number, what must exist; predicates.
  ...'find list count require is has can'.split(' '),
  // Write rows; `build` makes a part of a statement.
  ...'update delete lock copy build'.split(' '),
  // Other systems: read, and change.
  ...'fetch send'.split(' '),
  // Texts and bytes.
  ...'parse format read write encode decode hash sign verify encrypt decrypt seal render'.split(' '),
  // Later.
  ...'enqueue publish schedule subscribe follow lazy'.split(' '),
  // Judge.
  ...'evaluate decide match group compare validate check classify'.split(' '),
  // Values in memory.
  ...'get to compute select collect filter sort split merge normalize truncate make define create'.split(' '),
  // The life of parts of the program.
  ...'open close start stop run serve register load save handle with wait limit'.split(' '),
  // What the product does.
  ...'abandon accept admit answer append apply approve assign audit authenticate complete confirm'.split(' '),
  ...'connect describe disconnect dismiss distribute enroll expire explain export import invite issue'.split(' '),
  ...'link log measure migrate observe reconcile record refresh regroup reject release remove'.split(' '),
  ...'rename replay report resend reserve restore revoke rotate settle synchronize trace triage undo'.split(' '),
  ...'upgrade'.split(' '),
]

/** The first words of the functions of stores. */
export const STORE_WORDS: readonly string[] =
  'find list count require insert update upsert delete lock copy build has is notify'.split(' ')
