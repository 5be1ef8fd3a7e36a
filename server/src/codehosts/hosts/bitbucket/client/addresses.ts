/** Where the APIs of Bitbucket are. */
export type BitbucketAddresses = {
  /** The name of the host, such as `bitbucket.org`. */
  host: string
  /** What the paths of the API are appended to. */
  api: string
  /** Where OAuth consumers get their tokens. */
  tokens: { origin: string; path: string }
}

const TOKEN_PATH = '/site/oauth2/access_token'
const CLOUD_API_HOST = 'api.bitbucket.org'

/** Bitbucket Cloud gives tokens under another origin than that of its API. */
export function addressesOf(apiUrl: string): BitbucketAddresses {
  const { host, origin } = new URL(apiUrl)
  const isCloud = host === CLOUD_API_HOST
  return {
    host: isCloud ? 'bitbucket.org' : host.toLowerCase(),
    api: `${origin}/2.0`,
    tokens: { origin: isCloud ? 'https://bitbucket.org' : origin, path: TOKEN_PATH },
  }
}
