ALTER ROLE {role} LOGIN PASSWORD {password};
