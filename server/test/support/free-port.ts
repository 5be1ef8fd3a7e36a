import { choosePort } from '../../src/platform/http/listener.ts'

/** A port of the loopback address that nobody listens on. */
export async function freePort(): Promise<number> {
  const port = await choosePort('127.0.0.1', 0)
  await port.release()
  return port.number
}
