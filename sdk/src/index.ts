// The public names of `@shiplock/sdk`.
export type { Api, CallOptions, PathOf, SuccessOf } from './api.ts'
export {
  type ClientOptions,
  createClient,
  type Deployment,
  type DeploymentUpdate,
  type ShiplockClient,
  VERSION,
} from './client.ts'
export { type HashOptions, hashSource } from './files/hash-source.ts'
export { type PutOptions, putSlot, type Slot } from './files/put-slot.ts'
export { type FileSlot, type PutSlotsOptions, putSlots, type ReportFile } from './files/put-slots.ts'
export { blobSource, type Hash, type PutRequest, type PutSender, type Source, streamSource } from './files/source.ts'
export { NetworkError, ShiplockError } from './http/errors.ts'
export type { OlderServer } from './http/json-fetch.ts'
export type { Retry, RetryPolicy } from './http/retry.ts'
export type { ListItem, ListOptions, ListPath, ListQuery } from './list.ts'
export type { components, operations, paths } from './openapi.ts'
export type { ArtifactResult, NewReport, ReportResult, SendReportOptions } from './send-report.ts'
export type { SecurityUpload, UploadReportOptions } from './upload-report.ts'
export type { DeploymentGate, OpenedGate, WaitForGateOptions } from './wait-for-gate.ts'
