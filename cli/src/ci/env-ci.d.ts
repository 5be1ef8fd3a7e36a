declare module 'env-ci' {
  /** Throws if a file that the environment names cannot be read. */
  export default function envCi(options: { env: NodeJS.ProcessEnv; cwd: string }): {
    isCi: boolean
    /** Absent if the CI system is unknown. */
    service?: string
  }
}
