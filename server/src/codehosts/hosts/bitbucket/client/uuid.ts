/** A UUID of Bitbucket, which has braces in its answers and addresses, as we keep it. */
export function bareUuid(uuid: string): string {
  return uuid.replaceAll(/[{}]/g, '').toLowerCase()
}

/** A UUID as Bitbucket's addresses need it. */
export function bracedUuid(uuid: string): string {
  return `{${uuid}}`
}

const UUID = /^\{?[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}\}?$/i

export function isBitbucketUuid(text: string): boolean {
  return UUID.test(text)
}
