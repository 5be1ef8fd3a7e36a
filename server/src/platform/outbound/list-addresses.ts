import { promises as dns, type LookupAddress } from 'node:dns'
import { readFile } from 'node:fs/promises'

/** Name servers that do not answer get another question. */
const RESOLVER = { timeout: 2000, tries: 2 }

const HOSTS_FILE = '/etc/hosts'
const RESOLVER_FILE = '/etc/resolv.conf'

/**
 * All addresses of a name that a tenant chose. `dns.lookup` holds one of the few threads of the
 * process until the name server of the tenant answers, so only names of this machine go there.
 * Throws the error of the name server.
 */
export async function listAddresses(hostname: string): Promise<LookupAddress[]> {
  const name = hostname.toLowerCase()
  if (name === 'localhost' || (await hasHostsEntry(name))) return dns.lookup(name, { all: true })
  const resolver = new dns.Resolver(RESOLVER)
  try {
    return await query(resolver, name)
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOTFOUND'
    for (const domain of isMissing ? await listSearchDomains() : []) {
      const found = await query(resolver, `${name}.${domain}`).catch(() => null)
      if (found !== null) return found
    }
    throw error
  }
}

async function query(resolver: dns.Resolver, name: string): Promise<LookupAddress[]> {
  const [v4, v6] = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)])
  if (v4.status === 'rejected' && v6.status === 'rejected') throw v4.reason
  const [found4, found6] = [v4, v6].map((answer) => (answer.status === 'fulfilled' ? answer.value : []))
  return [
    ...(found4 ?? []).map((address) => ({ address, family: 4 })),
    ...(found6 ?? []).map((address) => ({ address, family: 6 })),
  ]
}

/** `lookup` looks into the hosts file first, and asks no name server for what it finds there. */
async function hasHostsEntry(name: string): Promise<boolean> {
  const lines = await readLines(HOSTS_FILE)
  return lines.some(([, ...names]) => names.some((each) => each.toLowerCase() === name))
}

/** Short names are completed by these, such as those of services in Kubernetes. */
async function listSearchDomains(): Promise<string[]> {
  const lines = await readLines(RESOLVER_FILE)
  return lines.findLast(([option]) => option === 'search')?.slice(1) ?? []
}

/** The words of each line. A file that is missing has none. */
async function readLines(file: string): Promise<string[][]> {
  const text = await readFile(file, 'utf8').catch(() => '')
  return text.split('\n').map((line) => (line.split('#')[0] ?? '').split(/\s+/).filter((word) => word !== ''))
}
