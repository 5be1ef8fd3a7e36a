import type { VexFileFormat } from '../report/file-format.ts'

/** OpenVEX 0.2 and 0.0.1. */
export const openvex: VexFileFormat = {
  title: 'OpenVEX',
  marks: {
    texts: [['@context', /openvex\.dev\/ns/i]],
    shapes: ['statements[].vulnerability & statements[].status'],
  },
  loadParser: async () => (await import('./parser.ts')).parseOpenVex,
}
