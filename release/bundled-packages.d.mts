export const PACKAGES_FILE: string
export function notePackages(directory: string, files: string[]): void
