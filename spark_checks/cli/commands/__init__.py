"""Commands of the command line, a file each where they have much to say."""
