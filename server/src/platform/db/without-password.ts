const QUERY_SECRETS = ['password', 'sslpassword', 'passfile']

/** A database's address that may be shown: everything psql needs but the password. */
export function withoutPassword(address: string): string {
  if (!URL.canParse(address)) return withoutPasswordOfHosts(address)
  const url = new URL(address)
  url.password = ''
  for (const name of QUERY_SECRETS) url.searchParams.delete(name)
  return url.href
}

/** libpq takes several hosts in one address (`user:password@one,two/database`), which the URL standard does not. */
function withoutPasswordOfHosts(address: string): string {
  const [main = ''] = address.split('?', 1)
  const start = main.indexOf('://') + '://'.length
  const at = main.lastIndexOf('@')
  const [user = ''] = main.slice(start, at).split(':', 1)
  return at < 0 ? main : main.slice(0, start) + user + main.slice(at)
}
