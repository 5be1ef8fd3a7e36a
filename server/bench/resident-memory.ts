const MIB = 2 ** 20

/** The current memory of our server, in MiB. */
export async function residentMib(url: string): Promise<number> {
  const metrics = await (await fetch(`${url}/metrics`)).text()
  return Number(/^process_resident_memory_bytes (\d+)/m.exec(metrics)?.[1]) / MIB
}
