/** Days of the reader's zone as the times of the API: from the start of one to the end of the other. */
export function windowOf({ since, until }: { since?: string | undefined; until?: string | undefined }) {
  return {
    since: since === undefined ? undefined : new Date(`${since}T00:00:00`).toISOString(),
    until: until === undefined ? undefined : new Date(`${until}T23:59:59.999`).toISOString(),
  }
}
