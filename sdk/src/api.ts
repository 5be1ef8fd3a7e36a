import createFetchClient from 'openapi-fetch'
import { type HttpSettings, jsonFetch } from './http/json-fetch.ts'
import type { paths } from './openapi.ts'

type Method = 'get' | 'post' | 'patch'

/** The paths of the API that have an operation of this method. */
export type PathOf<M extends Method> = {
  [P in keyof paths]: paths[P] extends Record<M, object> ? P : never
}[keyof paths]

type OperationOf<P extends keyof paths, M extends Method> =
  paths[P] extends Record<M, infer Operation> ? Operation : never

type ParametersOf<Operation> = Operation extends { parameters: infer Parameters }
  ? object extends Parameters
    ? { params?: Parameters }
    : { params: Parameters }
  : never

type BodyOf<Operation> = Operation extends { requestBody?: never }
  ? { body?: never }
  : Operation extends { requestBody: { content: { 'application/json': infer Body } } }
    ? { body: Body }
    : never

/** `params.path`, `params.query`, `params.header` and `body` as the operation defines them. */
export type CallOptions<Operation> = ParametersOf<Operation> &
  BodyOf<Operation> & { headers?: Record<string, string>; signal?: AbortSignal | undefined }

type JsonOf<Answer> = Answer extends { content: { 'application/json': infer Body } } ? Body : never

/** The JSON of a successful answer. */
export type SuccessOf<Operation> = Operation extends { responses: infer Responses }
  ? JsonOf<Responses[keyof Responses & (200 | 201)]>
  : never

/** The JSON of a successful GET. */
export type GetSuccess<P extends PathOf<'get'>> = SuccessOf<OperationOf<P, 'get'>>

type Call<M extends Method> = <P extends PathOf<M>>(
  path: P,
  ...options: object extends CallOptions<OperationOf<P, M>>
    ? [options?: CallOptions<OperationOf<P, M>>]
    : [options: CallOptions<OperationOf<P, M>>]
) => Promise<{ data: SuccessOf<OperationOf<P, M>>; response: Response }>

/**
 * Every operation of the API, by its path in the OpenAPI document. `data` is the whole JSON of the
 * answer. A status of 400 or more is thrown as ShiplockError, and a missing answer as NetworkError.
 */
export type Api = { GET: Call<'get'>; POST: Call<'post'>; PATCH: Call<'patch'> }

/** The operations of a server, and the settings of the client that calls them. */
export type Connection = { api: Api; settings: HttpSettings }

export function createApi(url: string, settings: HttpSettings): Api {
  const client = createFetchClient<paths>({ baseUrl: url })
  const send = jsonFetch(settings)
  // The signal is not passed on to Request, which would keep a listener on it.
  const call =
    (method: Method) =>
    (path: never, { signal, ...options }: { signal?: AbortSignal | undefined } = {}) =>
      client.request(method, path, { ...options, fetch: (request: Request) => send(request, signal) } as never)
  return { GET: call('get'), POST: call('post'), PATCH: call('patch') } as unknown as Api
}
