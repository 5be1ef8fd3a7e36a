import { selectPort } from '../../src/platform/http/listener.ts'

/** A free port of the loopback address. */
export async function freePort(): Promise<number> {
  const port = await selectPort('127.0.0.1', 0)
  await port.release()
  return port.number
}
