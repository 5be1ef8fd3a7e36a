/** Ends a request with one of GitHub's errors. */
export class GitHubError extends Error {
  readonly status: number
  readonly headers: Record<string, string>

  constructor(status: number, message: string, headers: Record<string, string> = {}) {
    super(message)
    this.status = status
    this.headers = headers
  }
}

export function notFound(): GitHubError {
  return new GitHubError(404, 'Not Found')
}
