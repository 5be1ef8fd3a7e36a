/** True for the name and the addresses of this machine (RFC 6761 §6.3, RFC 6890 §2.2.2). */
export function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(hostname)
}

/**
 * The address of this server for people: browsers accept passkeys on `localhost`, and on no IP
 * address.
 */
export function toBrowserAddress(baseUrl: string): string {
  return baseUrl.replace(/^http:\/\/(?:127\.0\.0\.1|\[::1\])(?=[:/]|$)/, 'http://localhost')
}
