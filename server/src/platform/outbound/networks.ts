import { BlockList, isIP } from 'node:net'

/** IP addresses and networks in CIDR notation. */
export class Networks {
  readonly #list = new BlockList()

  constructor(networks: Iterable<string>) {
    for (const network of networks) {
      const [address = '', bits] = network.split('/')
      const family = isIP(address) === 6 ? 'ipv6' : 'ipv4'
      this.#list.addSubnet(address, Number(bits ?? (family === 'ipv6' ? 128 : 32)), family)
    }
  }

  /** Whether an address, or the IPv4 address in it, is in one of the networks. */
  has(address: string): boolean {
    const ip = withoutZone(address)
    const inner = parseInnerAddress(ip)
    if (inner !== null && this.has(inner)) return true
    return this.#list.check(ip, isIP(ip) === 6 ? 'ipv6' : 'ipv4')
  }
}

/**
 * What is no part of the public internet: the special-purpose registries of IANA (RFC 6890),
 * multicast, and the metadata address of Azure, which is the only public one.
 */
const SPECIAL_NETWORKS = [
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '168.63.129.16', '169.254.0.0/16', '172.16.0.0/12'],
  ...['192.0.0.0/24', '192.0.2.0/24', '192.88.99.0/24', '192.168.0.0/16', '198.18.0.0/15', '198.51.100.0/24'],
  ...['203.0.113.0/24', '224.0.0.0/4', '240.0.0.0/4'],
  ...['::/96', '64:ff9b:1::/48', '100::/64', '100:0:0:1::/64', '2001::/23', '2001:db8::/32', '3fff::/20', '5f00::/16'],
  ...['fc00::/7', 'fe80::/10', 'fec0::/10', 'ff00::/8'],
].map((network) => ({ network, addresses: new Networks([network]) }))

/** The special-purpose network that an address is in; null for a public address. */
export function findSpecialNetwork(address: string): string | null {
  return SPECIAL_NETWORKS.find(({ addresses }) => addresses.has(address))?.network ?? null
}

/** Link-local addresses may name the interface that they are used on. */
function withoutZone(address: string): string {
  return address.split('%')[0] ?? address
}

/**
 * The IPv4 address to which an IPv6 address leads: mapped (RFC 4291 §2.5.5.2), by NAT64 (RFC 6052)
 * and by 6to4 (RFC 3056).
 */
function parseInnerAddress(ip: string): string | null {
  if (isIP(ip) !== 6) return null
  const groups = parseGroups(ip)
  const begin = groups.slice(0, 6).join(':')
  if (begin === '0:0:0:0:0:ffff' || begin === '64:ff9b:0:0:0:0') return formatIPv4(groups.slice(6))
  return groups[0] === '2002' ? formatIPv4(groups.slice(1, 3)) : null
}

/** The eight groups of an IPv6 address, without zeros at their begin. */
function parseGroups(ip: string): string[] {
  const [head = '', tail] = new URL(`http://[${ip}]`).hostname.slice(1, -1).split('::')
  const [first, last] = [head, tail ?? ''].map((part) => part.split(':').filter((group) => group !== ''))
  const zeros = Array<string>(8 - (first?.length ?? 0) - (last?.length ?? 0)).fill('0')
  return [...(first ?? []), ...zeros, ...(last ?? [])]
}

function formatIPv4(groups: readonly string[]): string {
  return groups.flatMap((group) => [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 255]).join('.')
}
