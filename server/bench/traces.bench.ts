import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Benchmark } from './benchmark.ts'
import { compareServers } from './compared-servers.ts'
import type { Setting } from './setting.ts'

export const traces: Benchmark<Setting> = {
  name: 'createCiRun with traces',
  about: 'POST /v1/ci/runs with every request traced, beside the same without traces',
  unit: 'requests/s',
  bar: null,
  onlyByName: true,
  async measure(setting) {
    const collector = createServer((request, response) => {
      request.resume().on('end', () => response.end())
    })
    await once(collector.listen(0, '127.0.0.1'), 'listening')
    const { port } = collector.address() as AddressInfo
    try {
      return await compareServers(setting, { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}` }, {})
    } finally {
      collector.close()
      collector.closeAllConnections()
    }
  },
}
