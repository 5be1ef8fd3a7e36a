/** Forms of the fields of a CI run (`ci/runs/run.schema.ts`), for readers of claims. */
export const RUN_ID = /^[A-Za-z0-9._:/-]{1,128}$/
export const COMMIT_SHA = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/
export const REF = /^.{1,255}$/u
export const RUN_NUMBER_MAX = 2 ** 31 - 1
export const ATTEMPT_MAX = 999
export const NAME_CHARS_MAX = 200
const ADDRESS_CHARS_MAX = 300

/** `host/owner/name`, or null if it does not fit or a part is missing. */
export function toAddress(host: string, name: string | null): string | null {
  if (name === null || !/^[^/\s]+(?:\/[^/]+)+$/.test(name)) return null
  const address = `${host}/${name}`
  return address.length <= ADDRESS_CHARS_MAX ? address : null
}

/** A UUID without its braces, in lower case, as repositories are stored. */
export function normalizeUuid(text: string): string {
  return text.replace(/^\{(.*)\}$/, '$1').toLowerCase()
}
