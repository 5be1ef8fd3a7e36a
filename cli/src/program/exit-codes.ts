/** The exit codes of the program. A command that was interrupted exits with 128 + the signal. */
export const EXIT = {
  ok: 0,
  failure: 1,
  wrongCall: 2,
  /** `gate open --wait` and `deploy exec`: the gate was not approved. */
  notApproved: 3,
  /** `report`: `--threshold` is not reached, or `--fail-on` is exceeded. */
  exceeded: 4,
  /** `exposure`: a deployment that runs is affected; none is, and about some it is not known. */
  affected: 3,
  unknown: 4,
} as const
