const KEY = /^[A-Za-z0-9_-]{1,64}(?:\/[A-Za-z0-9_-]{1,64}){0,7}$/

/**
 * Refuses what is not one to eight segments of letters, digits, `_` and `-`, with `/` between them. Without dots, empty
 * segments and escapes a key cannot leave the store's directory, nor meet the store's own files, whose names have dots.
 */
export function assertObjectKey(key: string): void {
  if (!KEY.test(key)) throw new TypeError(`Not an object key: ${JSON.stringify(key.slice(0, 100))}`)
}
