import type { Format, SecurityUpload } from './upload-item.ts'

export const UPLOAD_STATUSES = ['pending', 'queued', 'parsing', 'finished', 'failed'] as const satisfies Status[]

type Status = SecurityUpload['status']

export const STATUS_NAMES: Record<Status, string> = {
  pending: 'Pending',
  queued: 'Queued',
  parsing: 'Reading',
  finished: 'Finished',
  failed: 'Failed',
}

export const FORMATS = ['sarif', 'cyclonedx', 'spdx', 'openvex', 'csaf'] as const satisfies Format[]

export const FORMAT_NAMES: Record<Format, string> = {
  sarif: 'SARIF',
  cyclonedx: 'CycloneDX',
  spdx: 'SPDX',
  openvex: 'OpenVEX',
  csaf: 'CSAF',
}

export const ORIGIN_NAMES: Record<SecurityUpload['origin'], string> = {
  ui: 'Console',
  api: 'API',
  report: 'CI report',
}

export function isBeingRead(upload: SecurityUpload | undefined): boolean {
  return upload?.status === 'queued' || upload?.status === 'parsing'
}
