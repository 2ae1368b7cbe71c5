GRANT CONNECT ON DATABASE {database} TO {role_name};
INSERT INTO oracle_hub.machine (team, name, role) VALUES ({team}, {name}, {role}) ON CONFLICT (team, name) DO NOTHING;
SELECT oracle_hub.grant_rights({role});
