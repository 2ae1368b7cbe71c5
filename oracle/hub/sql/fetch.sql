SELECT path, content FROM oracle_hub.file WHERE team = %s AND path = ANY (%s) AND NOT removed
