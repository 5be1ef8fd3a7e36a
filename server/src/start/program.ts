/** The name of the program on the command line. */
export const PROGRAM = 'shiplock-server'
