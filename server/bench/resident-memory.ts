const MIB = 2 ** 20

/** What a server of ours holds in memory now, in MiB. */
export async function residentMib(url: string): Promise<number> {
  const metrics = await (await fetch(`${url}/metrics`)).text()
  return Number(/^process_resident_memory_bytes (\d+)/m.exec(metrics)?.[1]) / MIB
}
